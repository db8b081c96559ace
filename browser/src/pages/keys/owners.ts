/** The list of the keys that can use the account. */

import "./texts.ts";
import type { Owner } from "../../chain/owner_list.ts";
import type { Passkey } from "../../passkeys/signers.ts";
import { confirmed } from "../parts/dialog.ts";
import { day, text } from "../parts/language.ts";
import { about, button, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { run } from "../parts/screen.ts";
import { card } from "../vault/card.ts";
import { agreedTo } from "./asking.ts";
import { change } from "./change.ts";
import { noteName, otherPerson } from "./people.ts";
import type { Known } from "./screen.ts";

export function ownersCard(known: Known) {
  const { view, passkeys, seconds, canChange } = known;
  const missing = passkeys.filter((it) => !seconds.includes(it));
  return card(
    "owners",
    text("keys.owners"),
    paragraph(view.settings.threshold > 1 ? "keys.owners.two" : "keys.owners.lead"),
    el("ul", { class: "rows" }, ...view.owners.map((it) => row(it, known))),
    view.owners.length === 1 && canChange && paragraph("keys.only", {}, "small"),
    canChange && missing.length > 0 && paragraph("keys.passkey.lead"),
    canChange && missing.length > 0 && el("div", { class: "buttons" }, ...missing.map(passkeyButton)),
    canChange && other(known),
  );
}

function row({ signer, expiry }: Owner, { named, view, own, canChange }: Known) {
  const { name, kind } = named(signer);
  const until = expiry ? `, ${text("keys.until", { time: day(expiry * 1000) })}` : "";
  const remove = (event: Press) => run(event.currentTarget, () => removed(signer, name, signer === own, view));
  return el(
    "li",
    { "data-signer": signer },
    el("h3", {}, name),
    el("p", { class: "small" }, kind + until),
    canChange &&
      view.owners.length > 1 &&
      el(
        "div",
        { class: "buttons" },
        about(button(text("keys.remove"), remove, { kind: "plain", name: "remove-owner" }), name),
      ),
  );
}

async function removed(signer: string, name: string, isThis: boolean, { guardians }: Known["view"]) {
  const heading = text("keys.remove.heading", { name });
  const still = guardians.includes(signer) ? ` ${text("keys.remove.guardian")}` : "";
  const words = text(isThis ? "keys.remove.this" : "keys.remove.text") + still;
  if (!(await confirmed({ heading, words, yes: text("keys.remove") }))) return;
  await change(heading, [{ kind: "remove_owner", signer }]);
}

function passkeyButton({ signer, name }: Passkey) {
  const label = text("keys.passkey.add", { name });
  const add = (event: Press) => run(event.currentTarget, () => change(label, [{ kind: "add_owner", signer }]));
  return button(label, add, { name: "add-passkey" });
}

/** The form that adds a key of another device. */
function other({ own }: Known) {
  const to = field(text("keys.to"), personInput("owner"), text("keys.to.hint"));
  const add = (it: HTMLFormElement) =>
    run(it.querySelector("button"), async () => {
      const person = await otherPerson(to.input.value, own);
      const question = {
        heading: text("keys.add.heading"),
        words: text("keys.add.text"),
        yes: text("keys.add.yes"),
      };
      if (!(await agreedTo(question, [person]))) return;
      await noteName(person.signer, to.input.value.trim());
      await change(text("keys.add"), [{ kind: "add_owner", signer: person.signer }]);
    });
  return el(
    "details",
    { "data-name": "other-owner" },
    el("summary", {}, text("keys.add")),
    paragraph("keys.add.lead"),
    form(add, to.node, el("div", { class: "buttons" }, submit(text("keys.add.yes")))),
  );
}

export function personInput(name: string) {
  return { name, autocapitalize: "none", spellcheck: "false", autocomplete: "off" };
}

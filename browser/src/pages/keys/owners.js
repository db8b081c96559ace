/** The list of the keys that can use the account. */

import "./texts.js";
import { confirmed } from "../parts/dialog.js";
import { day, text } from "../parts/language.js";
import { about, button, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { run } from "../parts/screen.js";
import { card } from "../vault/card.js";
import { agreedTo } from "./asking.js";
import { change } from "./change.js";
import { noteName, otherPerson } from "./people.js";

/** @typedef {import("./screen.js").Known} Known */

/** @param {Known} known */
export function ownersCard(known) {
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

/** @param {import("../../account/reads.js").Owner} owner @param {Known} known */
function row({ signer, expiry }, { named, view, own, canChange }) {
  const { name, kind } = named(signer);
  const until = expiry ? `, ${text("keys.until", { time: day(expiry * 1000) })}` : "";
  const remove = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), () => removed(signer, name, signer === own, view));
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

/** @param {string} signer @param {string} name @param {boolean} isThis @param {Known["view"]} view */
async function removed(signer, name, isThis, { guardians }) {
  const heading = text("keys.remove.heading", { name });
  const still = guardians.includes(signer) ? ` ${text("keys.remove.guardian")}` : "";
  const words = text(isThis ? "keys.remove.this" : "keys.remove.text") + still;
  if (!(await confirmed({ heading, words, yes: text("keys.remove") }))) return;
  await change(heading, [{ kind: "remove_owner", signer }]);
}

/** @param {import("./people.js").Passkey} passkey */
function passkeyButton({ signer, name }) {
  const label = text("keys.passkey.add", { name });
  const add = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), () => change(label, [{ kind: "add_owner", signer }]));
  return button(label, add, { name: "add-passkey" });
}

/** The form that adds a key of another device. @param {Known} known */
function other({ own }) {
  const to = field(text("keys.to"), personInput("owner"), text("keys.to.hint"));
  const add = (/** @type {HTMLFormElement} */ it) =>
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

/** @param {string} name */
export function personInput(name) {
  return { name, autocapitalize: "none", spellcheck: "false", autocomplete: "off" };
}

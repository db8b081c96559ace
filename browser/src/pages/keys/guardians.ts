/** The people who can bring the account back, and how long the person has to stop them. */

import "./texts.ts";
import type { Change as AccountChange } from "../../account/changes.ts";
import { counted, text } from "../parts/language.ts";
import { about, button, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { confirmed } from "../parts/dialog.ts";
import { run } from "../parts/screen.ts";
import { card } from "../vault/card.ts";
import { agreedTo } from "./asking.ts";
import { change } from "./change.ts";
import { DAY, HOUR, duration } from "./durations.ts";
import { personInput } from "./owners.ts";
import { noteName, otherPerson } from "./people.ts";
import type { Known } from "./screen.ts";
import { serviceOffer } from "./service.ts";

const DELAYS = [HOUR, DAY, 3 * DAY, 7 * DAY, 30 * DAY];

export function guardiansCard(known: Known) {
  const { guardians, owners, settings } = known.view;
  const { quorum, delay, threshold } = settings;
  const hasNoSpare = threshold > 1 && owners.length <= threshold;
  return card(
    "guardians",
    text("keys.guardians"),
    paragraph("keys.guardians.lead"),
    guardians.length === 0 && paragraph(hasNoSpare ? "keys.guardians.none.two" : "keys.guardians.none"),
    el("ul", { class: "rows" }, ...guardians.map((it) => row(it, known))),
    guardians.length > 0 &&
      el(
        "p",
        { "data-name": "terms" },
        quorum
          ? `${counted("keys.guardians.agree", quorum)} ${text("keys.guardians.wait", { time: duration(delay) })}`
          : text("keys.guardians.off"),
      ),
    quorum === 1 && paragraph("keys.guardians.alone", {}, "small"),
    known.canChange && serviceOffer(known),
    known.canChange && adding(known),
    known.canChange && guardians.length > 0 && terms(known),
  );
}

function row(signer: string, { named, canChange, view }: Known) {
  const { name } = named(signer);
  const remove = (event: Press) => run(event.currentTarget, () => removed(signer, name, view));
  return el(
    "li",
    { "data-signer": signer },
    el("h3", {}, name),
    canChange &&
      el(
        "div",
        { class: "buttons" },
        about(button(text("keys.remove"), remove, { kind: "plain", name: "remove-guardian" }), name),
      ),
  );
}

/** Removes a guardian. If fewer remained than must agree, all that remain must. */
async function removed(signer: string, name: string, { guardians, settings }: Known["view"]) {
  const heading = text("keys.remove.heading", { name });
  const words = text("keys.guardian.remove.text");
  if (!(await confirmed({ heading, words, yes: text("keys.remove") }))) return;
  const most = guardians.length - 1;
  const fewer: AccountChange[] = settings.quorum > most ? [{ kind: "set_quorum", value: most }] : [];
  await change(heading, [...fewer, { kind: "remove_guardian", signer }]);
}

function adding({ view, own }: Known) {
  const to = field(text("keys.guardian.to"), personInput("guardian"), text("keys.to.hint"));
  const add = (it: HTMLFormElement) =>
    run(it.querySelector("button"), async () => {
      const person = await otherPerson(to.input.value, own);
      const { signer } = person;
      const question = {
        heading: text("keys.guardian.heading"),
        words: text("keys.guardian.text"),
        yes: text("keys.guardian.add"),
      };
      if (!(await agreedTo(question, [person]))) return;
      await noteName(signer, to.input.value.trim());
      const first: AccountChange[] = view.settings.quorum ? [] : [{ kind: "set_quorum", value: 1 }];
      await change(text("keys.guardian.add"), [{ kind: "add_guardian", signer }, ...first]);
    });
  return form(add, to.node, el("div", { class: "buttons" }, submit(text("keys.guardian.add"))));
}

function terms({ view: { guardians, settings } }: Known) {
  const counts = guardians.map((_, at) => at + 1);
  const quorum = choice("quorum", counts, settings.quorum, (n) => counted("keys.people", n));
  const delay = choice("delay", DELAYS, settings.delay, duration);
  const save = (it: HTMLFormElement) =>
    run(it.querySelector("button"), () =>
      change(text("keys.terms"), [
        { kind: "set_quorum", value: Number(quorum.value) },
        { kind: "set_delay", value: Number(delay.value) },
      ]),
    );
  return el(
    "details",
    { "data-name": "change-terms" },
    el("summary", {}, text("keys.terms")),
    form(
      save,
      el("div", { class: "field" }, el("label", { for: "keys-quorum" }, text("keys.terms.quorum")), quorum),
      el("div", { class: "field" }, el("label", { for: "keys-delay" }, text("keys.terms.delay")), delay),
      el("div", { class: "buttons" }, submit(text("keys.terms.save"))),
    ),
  );
}

function choice(name: string, values: number[], present: number, shown: (value: number) => string) {
  const all = [...new Set(present ? [...values, present] : values)].sort((one, other) => one - other);
  return el(
    "select",
    { id: `keys-${name}`, name },
    ...all.map((it) => el("option", { value: it, selected: it === present }, shown(it))),
  );
}

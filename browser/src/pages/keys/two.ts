/** Requires two keys for payments above a sum and for changes of the account, or one again. */

import "./texts.ts";
import type { Passkey } from "../../passkeys/signers.ts";
import { keyId } from "../library.ts";
import { confirmed } from "../parts/dialog.ts";
import { typedAmount } from "../parts/amounts.ts";
import { text } from "../parts/language.ts";
import { button, el, field, form, paragraph, submit, type Press } from "../parts/nodes.ts";
import { run } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { TOKENS, shown } from "../send/tokens.ts";
import { amountOf, periodText } from "../spending/terms.ts";
import { card } from "../vault/card.ts";
import { change } from "./change.ts";
import type { Known } from "./screen.ts";

const DAY = 86_400;

export function twoKeysCard(known: Known) {
  const { view, seconds } = known;
  if (view.settings.threshold > 1) return card("two", text("keys.two"), ...present(known));
  return card(
    "two",
    text("keys.two"),
    paragraph("keys.two.lead"),
    ...(seconds.length ? offer(seconds, known) : [first()]),
  );
}

function first() {
  return paragraph("keys.two.first", {}, "small");
}

function present({ alone, canChange }: Known) {
  const off = (event: Press) => run(event.currentTarget, turnedOff);
  const sums = alone.map(
    ({ permission }) => `${amountOf(permission, permission.allowance)} ${periodText(permission.period)}`,
  );
  return [
    el("p", { "data-name": "two-state" }, text("keys.two.on")),
    paragraph(sums.length ? "keys.two.sum" : "keys.two.nosum", { sum: sums.join(", ") }),
    canChange
      ? el("div", { class: "buttons" }, button(text("keys.two.off"), off, { kind: "plain", name: "two-off" }))
      : paragraph("keys.two.elsewhere", {}, "notice"),
  ];
}

function offer(seconds: Passkey[], { opening }: Known) {
  const [unit] = TOKENS;
  const sum = field(
    text("keys.two.field", { unit: unit.symbol }),
    { name: "sum", inputmode: "decimal", autocomplete: "off" },
    text("keys.two.hint"),
  );
  const turnOn = (it: HTMLFormElement) => {
    const isNone = /^0?$/.test(sum.input.value.trim());
    const { value: most, bad } = typedAmount(sum.input.value, unit.decimals);
    sum.judge(isNone ? "" : bad);
    if (bad && !isNone) return sum.input.focus();
    return run(it.querySelector("button"), () => turnedOn(seconds, most, opening));
  };
  return [form(turnOn, sum.node, el("div", { class: "buttons" }, submit(text("keys.two.yes"))))];
}

/** @param most what one key may pay in a day */
async function turnedOn(seconds: Passkey[], most: bigint, opening: string[]) {
  const [unit] = TOKENS;
  const ids = await Promise.all(seconds.map(({ credentialId }) => keyId(credentialId)));
  const doesBoth = ids.every((it) => opening.includes(it));
  const names = seconds.map(({ name }) => name).join(", ");
  const sum = most ? text("keys.two.asked.sum", { sum: shown(most, unit) }) : text("keys.two.asked.all");
  const points = [
    sum,
    text("keys.two.asked.keys"),
    text("keys.two.asked.second", { names }),
    text("keys.two.asked.lost"),
  ];
  const more = [
    el("ul", {}, ...points.map((it) => el("li", {}, it))),
    doesBoth && el("p", { class: "notice" }, text("keys.two.asked.both")),
  ];
  const heading = text("keys.two.heading");
  if (!(await confirmed({ heading, words: text("keys.two.text"), yes: text("keys.two.yes"), more }))) return;
  const terms = most ? [{ token: unit.token, allowance: most, period: DAY }] : [];
  const spending = await (await ready()).accountSpending();
  await change(heading, [{ kind: "set_threshold", value: 2 }], () => spending.allowAlone(terms));
}

async function turnedOff() {
  const question = { heading: text("keys.two.off"), words: text("keys.two.off.text"), yes: text("keys.two.off") };
  if (await confirmed(question)) await change(question.heading, [{ kind: "set_threshold", value: 1 }]);
}

/** The screen on which a person lets an app spend without asking, within a limit that the account enforces. */

import "../keys/texts.ts";
import { typedAmount } from "../parts/amounts.ts";
import { text } from "../parts/language.ts";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.ts";
import { go, opening } from "../parts/router.ts";
import { run, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { accountOf } from "../keys/people.ts";
import { TOKENS } from "../send/tokens.ts";
import { PERIODS, periodText } from "./terms.ts";

const DAY = 86_400;
const MOST_DAYS = 3650;
const DID_NEW = /^did:new:0x[0-9a-f]{64}$/;

export type Typed = { to: string; limit: string; token: number; period: number; days: string; payee: string };

const EMPTY: Typed = { to: "", limit: "", token: 0, period: PERIODS[3], days: "365", payee: "" };

/** @param given what was typed before */
export function spendingNew(given: Partial<Typed> = {}) {
  const typed = { ...EMPTY, ...given };
  const plain = { autocapitalize: "none", spellcheck: "false", autocomplete: "off" };
  const to = field(text("spend.to"), { name: "to", value: typed.to, ...plain }, text("spend.to.hint"));
  const limit = field(text("spend.limit"), { name: "limit", inputmode: "decimal", value: typed.limit });
  const days = field(text("spend.days"), { name: "days", inputmode: "numeric", value: typed.days });
  const payee = field(text("spend.payee"), { name: "payee", value: typed.payee, ...plain }, text("spend.payee.hint"));
  const token = choice(
    "token",
    TOKENS.map(({ symbol }, at) => [at, symbol]),
    typed.token,
  );
  const period = choice(
    "period",
    PERIODS.map((it) => [it, periodText(it)]),
    typed.period,
  );
  const next = (it: HTMLFormElement) => {
    const { decimals } = TOKENS[Number(token.value)];
    const [{ value: most, bad }, count] = [typedAmount(limit.input.value, decimals), Number(days.input.value)];
    const isDays = Number.isInteger(count) && count >= 1 && count <= MOST_DAYS;
    to.judge(DID_NEW.test(to.input.value.trim()) ? "" : text("spend.bad.to"));
    limit.judge(bad);
    days.judge(isDays ? "" : text("spend.bad.days"));
    const wrong = it.querySelector("[aria-invalid]");
    if (wrong) return (wrong as HTMLElement).focus();
    const values = {
      to: to.input.value.trim(),
      limit: limit.input.value,
      token: Number(token.value),
      period: Number(period.value),
      days: days.input.value,
      payee: payee.input.value.trim(),
    };
    return run(it.querySelector("button"), () => proposed(values, most), text("working"));
  };
  show({
    name: "spending-new",
    heading: text("spend.make"),
    redraw: () => spendingNew(typed),
    body: [
      paragraph("spend.form.lead"),
      form(
        next,
        to.node,
        limit.node,
        el("div", { class: "field" }, el("label", { for: "spend-token" }, text("spend.token")), token),
        el("div", { class: "field" }, el("label", { for: "spend-period" }, text("spend.period")), period),
        days.node,
        payee.node,
        buttons(submit(text("spend.next")), button(text("back"), opening("spending"), { kind: "plain", name: "back" })),
      ),
    ],
  });
}

async function proposed(typed: Typed, allowance: bigint) {
  const client = await ready();
  const payee = typed.payee ? await accountOf(typed.payee) : null;
  const until = Math.floor(Date.now() / 1000) + Number(typed.days) * DAY;
  const { to, period } = typed;
  const terms = { to, period, allowance, until, token: TOKENS[typed.token].token, payee: payee && payee.address };
  await go("spending-review", { typed, payee, proposal: await (await client.accountSpending()).proposed(terms) });
}

function choice(name: string, options: [number, string][], present: number) {
  const made = options.map(([value, label]) => el("option", { value, selected: value === present }, label));
  return el("select", { id: `spend-${name}`, name }, ...made);
}

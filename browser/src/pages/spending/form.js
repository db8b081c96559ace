/** The screen on which a person lets an app spend without asking, within a limit that the account enforces. */

import "../keys/texts.js";
import { text } from "../parts/language.js";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { go } from "../parts/router.js";
import { run, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { accountOf } from "../keys/people.js";
import { TOKENS } from "../send/tokens.js";
import { units } from "../vault/values.js";
import { PERIODS, periodText } from "./terms.js";

const DAY = 86_400;
const MOST_DAYS = 3650;
const DID_NEW = /^did:new:0x[0-9a-f]{64}$/;

/** @typedef {{to: string, limit: string, token: number, period: number, days: string, payee: string}} Typed */

/** @type {Typed} */
const EMPTY = { to: "", limit: "", token: 0, period: PERIODS[3], days: "365", payee: "" };

/** @param {Partial<Typed>} [given] what was typed before */
export function spendingNew(given = {}) {
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
  const next = (/** @type {HTMLFormElement} */ it) => {
    const { decimals } = TOKENS[Number(token.value)];
    const [most, count] = [units(limit.input.value, decimals), Number(days.input.value)];
    const isDays = Number.isInteger(count) && count >= 1 && count <= MOST_DAYS;
    to.judge(DID_NEW.test(to.input.value.trim()) ? "" : text("spend.bad.to"));
    limit.judge(most ? "" : text("spend.bad.limit", { decimals }));
    days.judge(isDays ? "" : text("spend.bad.days"));
    const wrong = it.querySelector("[aria-invalid]");
    if (wrong) return /** @type {HTMLElement} */ (wrong).focus();
    const values = {
      to: to.input.value.trim(),
      limit: limit.input.value,
      token: Number(token.value),
      period: Number(period.value),
      days: days.input.value,
      payee: payee.input.value.trim(),
    };
    return run(it.querySelector("button"), () => proposed(values, /** @type {bigint} */ (most)), text("working"));
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
        buttons(
          submit(text("spend.next")),
          button(text("back"), () => go("spending"), { kind: "plain", name: "back" }),
        ),
      ),
    ],
  });
}

/** @param {Typed} typed @param {bigint} allowance */
async function proposed(typed, allowance) {
  const client = await ready();
  const payee = typed.payee ? await accountOf(typed.payee) : null;
  const until = Math.floor(Date.now() / 1000) + Number(typed.days) * DAY;
  const { to, period } = typed;
  const terms = { to, period, allowance, until, token: TOKENS[typed.token].token, payee: payee && payee.address };
  await go("spending-review", { typed, payee, proposal: await (await client.accountSpending()).proposed(terms) });
}

/**
 * @param {string} name
 * @param {[number, string][]} options
 * @param {number} present
 */
function choice(name, options, present) {
  const made = options.map(([value, label]) => el("option", { value, selected: value === present }, label));
  return /** @type {HTMLSelectElement} */ (el("select", { id: `spend-${name}`, name }, ...made));
}

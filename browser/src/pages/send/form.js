/** The first screen of a payment, which asks for the payee and the amount. */

import { language, text } from "../parts/language.js";
import { button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { ProblemError, problem } from "../parts/problems.js";
import { go } from "../parts/router.js";
import { run, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { receiveHere } from "../vault/account.js";
import { units } from "../vault/values.js";
import { sendError } from "./errors.js";
import { resolved } from "./payee.js";
import { TOKENS, shown } from "./tokens.js";

/**
 * @typedef {import("./tokens.js").Token} Token
 * @typedef {{to: string, amount: string, symbol: string, again?: Again}} Typed
 * @typedef {{to: string, address: string, shop?: string, label?: string}} Again what was noted about the payment that is
 *   sent again, in place of the open one
 */

/** @param {Partial<Typed>} [typed] */
export function send(typed = {}) {
  const to = field(
    text("send.to"),
    { name: "to", autocapitalize: "none", spellcheck: "false", autocomplete: "off", value: typed.to ?? "" },
    text("send.to.hint"),
  );
  const much = field(
    text("send.amount"),
    { name: "amount", inputmode: "decimal", autocomplete: "off", value: typed.amount ?? "" },
    text("send.amount.hint"),
  );
  const token = el(
    "select",
    { id: "send-token", name: "token" },
    ...TOKENS.map(({ symbol }) => el("option", { value: symbol, selected: symbol === typed.symbol }, symbol)),
  );
  const now = () => ({ to: to.input.value, amount: much.input.value, symbol: token.value, again: typed.again });
  const next = (/** @type {HTMLFormElement} */ it) =>
    run(it.querySelector("button[type=submit]"), () => reviewed(now(), to, much), text("send.checking"));
  show({
    name: "send",
    heading: text("send.heading"),
    focus: to.input,
    redraw: () => send(now()),
    body: [
      typed.again ? paragraph("send.again", {}, "notice") : null,
      form(
        next,
        to.node,
        much.node,
        el("div", { class: "field" }, el("label", { for: "send-token" }, text("send.token")), token),
        buttons(
          submit(text("send.next")),
          button(text("back"), () => go("home"), { kind: "plain", name: "back" }),
        ),
      ),
    ],
  });
}

/**
 * @param {Typed} typed
 * @param {ReturnType<typeof field>} to
 * @param {ReturnType<typeof field>} much
 */
async function reviewed(typed, to, much) {
  to.judge();
  much.judge();
  document.querySelector('[data-name="too-little"]')?.remove();
  const token = /** @type {Token} */ (TOKENS.find(({ symbol }) => symbol === typed.symbol));
  const value = units(typed.amount, token.decimals);
  const payee = await resolved(typed.to).catch((error) => refuse(to, sendError(error)));
  if (!payee) return;
  if (!value)
    return refuse(
      much,
      new ProblemError("send.bad.amount", { digits: new Intl.NumberFormat(language).format(token.decimals) }),
    );
  const client = await ready();
  const [{ address: from }, { chain, chainId }] = await Promise.all([client.account(), client.status()]);
  const { balance } = await client.balance({ account: from, token: token.symbol, chainId: String(chainId) });
  if (BigInt(balance) < value) {
    much.node.closest("form")?.after(receiveHere(from, chain, () => reviewed(typed, to, much)));
    return refuse(
      much,
      new ProblemError("insufficient_balance", { have: shown(BigInt(balance), token), need: shown(value, token) }),
    );
  }
  await go("send-review", { typed, payee, token, value, from, chain, chainId });
}

/** @param {ReturnType<typeof field>} entry @param {unknown} error @returns {null} */
function refuse({ judge, input }, error) {
  if (!(error instanceof ProblemError)) throw error;
  judge(problem(error));
  input.focus();
  return null;
}

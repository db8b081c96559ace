/** What the payment sheet shows of a shop's request: the shop, the paying vault and the limits, too. */

import { decimalOf } from "../kit/money.js";
import { el } from "../kit/el.js";
import { address, feeText, row, sheet } from "../kit/sheet.js";
import { costText } from "./account.js";
import { COIN } from "./request.js";
import { part } from "./screens.js";
import { amountText, text } from "./text.js";

/**
 * @typedef {import("./request.js").Request} Request
 * @typedef {{address: string, did: string | null}} Payee
 * @typedef {import("./account.js").Fee} Fee
 * @typedef {{did: string, name: string}} Payer a vault, and the name under which it was registered in this browser, if any
 * @typedef {{payers: Payer[], did: string, onChoice: (did: string) => void}} Choice `did`: the vault that pays
 */

const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\]|.*\.localhost)$/;

/**
 * @param {Request} request
 * @returns {string} such as "12.50 USDC"; for an unknown token in its smallest unit
 */
export function amountOf({ amount, token }) {
  return token ? amountText(decimalOf(amount, token.decimals), token) : amount.toString();
}

/**
 * @param {Request} request
 * @param {Payee} payee
 * @param {{chainName: string, choice: Choice, familiarity: "known" | "new" | "alike"}} facts
 * @returns {HTMLElement}
 */
export function requestSheet(request, payee, { chainName, choice, familiarity }) {
  const { token, params, total, label, site, inside } = request;
  const otherUnit = token?.unit !== total.currency.toUpperCase();
  const { did } = payee;
  return sheet(text, {
    amount: amountOf(request),
    warnings: [!token && text("token_unknown")],
    above: [
      row(
        text("shop"),
        shopName(site),
        ...shopWarnings(site),
        ...(inside
          ? [el("small", {}, text("asks_inside", { site: schemeOf(inside) + inside.host })), ...shopWarnings(inside)]
          : []),
      ),
      label && row(text("label"), text("shop_calls_it", { label })),
      otherUnit && row(text("shop_price"), `${total.value} ${total.currency}`),
      !token && row(text("token"), address(params.token)),
    ],
    payee,
    trust: did === null ? "address" : did.startsWith("did:new:") ? "verified" : "unproven",
    paid: familiarity,
    more: [isForeign(did ?? "") && bad(text("unusual_host"))],
    chain: [`${chainName} (${params.chainId})`],
    fee: text("fee_loading"),
    below: [
      params.ucan && row(text("limit"), text("limit_delegation")),
      row(text("vault"), vaultChoice(choice), el("small", { id: "left" })),
    ],
  });
}

/**
 * @param {Fee | null} fee null if it is not known until the vault is open
 */
export function showFee(fee) {
  const shown = part("fee");
  if (shown) shown.textContent = fee === null ? text("fee_later") : feeText(text, fee, costText(fee));
}

/**
 * Shows what the account has left afterwards. For the chain's coin this is not certain before the fee is known.
 *
 * @param {Request} request
 * @param {bigint | null} left
 */
export function showLeft({ token }, left) {
  const node = part("left");
  if (node)
    node.textContent =
      left === null || !token || token === COIN
        ? ""
        : text("left", { amount: amountText(decimalOf(left, token.decimals), token) });
}

/**
 * Shows the vault that pays, or lets the person choose if this browser has several.
 *
 * @param {Choice} choice
 */
function vaultChoice({ payers, did, onChoice }) {
  if (payers.length < 2) return el("span", {}, el("strong", {}, payers[0].name), el("span", { class: "did" }, did));
  const options = payers.map((it) => el("option", { value: it.did }, `${it.name} ${it.did}`.trim()));
  const select = el(
    "select",
    {
      id: "vaults",
      "aria-label": text("vault"),
      onchange: () => onChoice(/** @type {HTMLSelectElement} */ (select).value),
    },
    ...options,
  );
  return select;
}

/** @param {URL} site */
function shopName(site) {
  return el("span", {}, schemeOf(site), el("strong", {}, site.host));
}

/** @param {URL} site */
function schemeOf({ protocol }) {
  return protocol === "https:" ? "" : `${protocol}//`;
}

/** Whether a host, or the host of a did:web, is internationalised. @param {string} name */
function isForeign(name) {
  return /(^|[.:])xn--/.test(name);
}

/** @param {URL} site */
function shopWarnings({ protocol, hostname }) {
  const open = protocol !== "https:" && !LOCAL.test(hostname);
  return [open && bad(text("not_encrypted")), isForeign(hostname) && bad(text("unusual_host"))];
}

/** @param {string} said */
function bad(said) {
  return el("small", { class: "bad" }, said);
}

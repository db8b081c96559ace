/** The payment sheet, which shows the amount, the payee, the shop, the paying vault and the fee. */

import { decimalOf } from "../kit/money.js";
import { el } from "../kit/el.js";
import { costText } from "./account.js";
import { COIN } from "./request.js";
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
export function sheet(request, payee, { chainName, choice, familiarity }) {
  const { token, params, total, label, site, inside } = request;
  const otherUnit = token?.unit !== total.currency.toUpperCase();
  return el(
    "div",
    {},
    el("p", { class: "amount", id: "amount" }, amountOf(request)),
    token ? null : warning(text("token_unknown")),
    familiarity === "alike" ? warning(text("payee_alike")) : null,
    el(
      "dl",
      { id: "request" },
      row(
        "shop",
        shopName(site),
        ...shopWarnings(site),
        ...(inside ? [el("small", {}, text("asks_inside", { site: originOf(inside) })), ...shopWarnings(inside)] : []),
      ),
      label ? row("label", text("shop_calls_it", { label })) : null,
      otherUnit ? row("shop_price", `${total.value} ${total.currency}`) : null,
      payeeRow(payee, familiarity),
      token ? null : row("token", address(params.token)),
      row("chain", text("chain_row", { name: chainName, id: params.chainId })),
      el("div", {}, el("dt", {}, text("fee")), el("dd", { id: "fee" }, text("fee_loading"))),
      params.ucan ? row("limit", text("limit_delegation")) : null,
      row("vault", vaultChoice(choice), el("small", { id: "left" })),
    ),
  );
}

/**
 * @param {Fee | null} fee null if it is not known until the vault is open
 */
export function showFee(fee) {
  const place = document.getElementById("fee");
  if (place)
    place.textContent =
      fee === null
        ? text("fee_later")
        : fee.sponsored
          ? text("fee_sponsored")
          : text("fee_own", { fee: costText(fee) });
}

/**
 * Shows what the account has left afterwards. For the chain's coin this is not certain before the fee is known.
 *
 * @param {Request} request
 * @param {bigint | null} left
 */
export function showLeft({ token }, left) {
  const place = document.getElementById("left");
  if (place)
    place.textContent =
      left === null || !token || token === COIN
        ? ""
        : text("left", { amount: amountText(decimalOf(left, token.decimals), token) });
}

/**
 * Shows a full address in groups of four digits for comparison. The copied address contains no spaces.
 *
 * @param {string} value 0x-hex
 */
export function address(value) {
  const groups = value.slice(2).match(/.{1,4}/g) ?? [];
  const parts = groups.flatMap((group) => [el("wbr"), el("span", {}, group)]);
  return el("span", { class: "address" }, el("span", {}, "0x"), ...parts);
}

/**
 * @param {Payee} payee
 * @param {"known" | "new" | "alike"} familiarity
 */
function payeeRow({ address: to, did }, familiarity) {
  const proven = did?.startsWith("did:new:");
  const said = did === null ? "payee_address" : proven ? "payee_verified" : "payee_unproven";
  return row(
    "payee",
    did ? el("span", { class: "did" }, did) : null,
    address(to),
    el(
      "small",
      { class: proven ? familiarity === "known" && "good" : did && "bad" },
      text(said),
      familiarity === "alike" ? "" : ` ${text(`payee_${familiarity}`)}`,
    ),
    isForeign(did ?? "") ? el("small", { class: "bad" }, text("unusual_host")) : null,
  );
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
function originOf(site) {
  return schemeOf(site) + site.host;
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
  return [open ? text("not_encrypted") : "", isForeign(hostname) ? text("unusual_host") : ""]
    .filter(Boolean)
    .map((said) => el("small", { class: "bad" }, said));
}

/**
 * @param {import("./text.js").TextKey} name
 * @param {...(Node | string | null)} values
 */
function row(name, ...values) {
  return el("div", {}, el("dt", {}, text(name)), el("dd", { id: `row-${name}` }, ...values));
}

/** @param {string} said */
function warning(said) {
  return el("p", { class: "notice strong" }, said);
}

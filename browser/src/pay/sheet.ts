/** What the payment sheet shows of a shop's request: the shop, the paying vault and the limits, too. */

import { THIS_MACHINE } from "../http/hosts.ts";
import { decimalOf } from "../chain/amounts.ts";
import { el } from "../kit/el.ts";
import { address, feeText, row, sheet } from "../kit/sheet.ts";
import { costText, type Fee } from "./account.ts";
import { COIN, type Request } from "./request.ts";
import { part } from "./screens.ts";
import { amountText, text } from "./text.ts";

type Payee = { address: string; did: string | null };

/** a vault, and the name under which it was registered in this browser, if any */
export type Payer = { did: string; name: string };

/** `did`: the vault that pays */
type Choice = { payers: Payer[]; did: string; onChoice: (did: string) => void };

/** @returns such as "12.50 USDC"; for an unknown token in its smallest unit */
export function amountOf({ amount, token }: Request): string {
  return token ? amountText(decimalOf(amount, token.decimals), token) : amount.toString();
}

export function requestSheet(
  request: Request,
  payee: Payee,
  { chainName, choice, familiarity }: { chainName: string; choice: Choice; familiarity: "known" | "new" | "alike" },
): HTMLElement {
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

/** @param fee null if it is not known until the vault is open */
export function showFee(fee: Fee | null) {
  const shown = part("fee");
  if (shown) shown.textContent = fee === null ? text("fee_later") : feeText(text, fee, costText(fee));
}

/** Shows what the account has left afterwards. For the chain's coin this is not certain before the fee is known. */
export function showLeft({ token }: Request, left: bigint | null) {
  const node = part("left");
  if (node)
    node.textContent =
      left === null || !token || token === COIN
        ? ""
        : text("left", { amount: amountText(decimalOf(left, token.decimals), token) });
}

/** Shows the vault that pays, or lets the person choose if this browser has several. */
function vaultChoice({ payers, did, onChoice }: Choice) {
  if (payers.length < 2) return el("span", {}, el("strong", {}, payers[0].name), el("span", { class: "did" }, did));
  const options = payers.map((it) => el("option", { value: it.did }, `${it.name} ${it.did}`.trim()));
  const chosen = () => onChoice(select.value);
  const select: HTMLSelectElement = el(
    "select",
    { id: "vaults", "aria-label": text("vault"), onchange: chosen },
    ...options,
  );
  return select;
}

function shopName(site: URL) {
  return el("span", {}, schemeOf(site), el("strong", {}, site.host));
}

function schemeOf({ protocol }: URL) {
  return protocol === "https:" ? "" : `${protocol}//`;
}

/** Whether a host, or the host of a did:web, is internationalised. */
function isForeign(name: string) {
  return /(^|[.:])xn--/.test(name);
}

function shopWarnings({ protocol, hostname }: URL) {
  const open = protocol !== "https:" && !THIS_MACHINE.test(hostname);
  return [open && bad(text("not_encrypted")), isForeign(hostname) && bad(text("unusual_host"))];
}

function bad(said: string) {
  return el("small", { class: "bad" }, said);
}

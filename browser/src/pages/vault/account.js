/** The card about the smart account: its address, its balances, and a QR code for receiving payments. */

import { copyButton } from "../parts/copy.js";
import { amount, moment, text } from "../parts/language.js";
import { button, el, paragraph } from "../parts/nodes.js";
import { go } from "../parts/router.js";
import { run } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { card } from "./card.js";
import { qrCode } from "./qr.js";
import { grouped } from "./values.js";

const TOKENS = ["USDC", "ETH"];

/** Returns the card. The card appears at once, and the balances are added when the network responds. */
export async function accountCard() {
  const body = el("div", {}, paragraph("working", {}, "small"));
  void filled(body);
  return card("account", text("vault.accounts"), body);
}

/** @param {HTMLElement} body */
async function filled(body) {
  try {
    const client = await ready();
    const [{ address }, { chain, chainId }] = await Promise.all([client.account(), client.status()]);
    const balances = el("div", { "data-name": "balances" });
    const refresh = (/** @type {Event} */ event) => run(/** @type {HTMLElement} */ (event.currentTarget), () => shownBalances(balances, address, chainId));
    body.replaceChildren(
      balances,
      el("div", { class: "buttons" }, button(text("send.open"), () => go("send"), { kind: "main", name: "send" })),
      el("h3", {}, text("vault.address")),
      el("p", { class: "mono", "data-name": "address" }, grouped(address)),
      el("div", { class: "buttons" }, copyButton(address), button(text("vault.refresh"), refresh, { name: "refresh" })),
      receive(address, chain),
    );
    await shownBalances(balances, address, chainId);
  } catch {
    body.replaceChildren(paragraph("vault.noaccount"), el("div", { class: "buttons" }, button(text("again"), () => filled(body), { name: "account-again" })));
  }
}

/**
 * @param {string} address
 * @param {string} chain
 */
function receive(address, chain) {
  return el("details", {}, el("summary", {}, text("vault.receive")), qrCode(address, text("vault.qr", { address })), paragraph("vault.receive.hint", { chain }));
}

/**
 * @param {HTMLElement} place
 * @param {string} account
 * @param {number} chainId
 */
async function shownBalances(place, account, chainId) {
  const client = await ready();
  const asked = TOKENS.map((token) => client.balance({ account, token, chainId: String(chainId) }).catch(() => null));
  const known = (await Promise.all(asked)).filter((it) => it !== null);
  if (known.length === 0) return place.replaceChildren(paragraph("vault.balance.unknown"));
  place.replaceChildren(
    ...known.map((it) => el("p", { class: "amount" }, amount(it.formatted, it.symbol))),
    paragraph("vault.balance.time", { time: moment(Date.now()) }, "small"),
  );
}

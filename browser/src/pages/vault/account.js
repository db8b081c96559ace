/** The card about the smart account: its address, its balances, and a QR code for receiving payments. */

import { meta } from "../../kit/meta.js";
import { copyButton } from "../parts/copy.js";
import { amount, moment, text } from "../parts/language.js";
import { about, button, el, paragraph } from "../parts/nodes.js";
import { go } from "../parts/router.js";
import { run } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { card } from "./card.js";
import { faucetButton } from "./faucet.js";
import { qrCode } from "../../kit/qr_code.js";
import { grouped } from "./values.js";

const TOKENS = ["USDC", "ETH"];
const TEST_MONEY = Boolean(meta("test-money"));

/** Whether the service was not reached; refusals are kinds of NetworkError too. @param {any} error */
const isUnreached = (error) => error?.name === "NetworkError";

/**
 * Returns the card. The card appears at once, and the balances are added when the network responds.
 *
 * @param {() => unknown} funded called when the account has been given test money
 */
export async function accountCard(funded) {
  const body = el("div", {}, paragraph("working", {}, "small"));
  void filled(body, funded);
  return card("account", text("vault.accounts"), body);
}

/** @param {HTMLElement} body @param {() => unknown} funded */
async function filled(body, funded) {
  try {
    const client = await ready();
    const [{ address }, { chain, chainId }] = await Promise.all([client.account(), client.status()]);
    const balances = el("div", { "data-name": "balances" });
    const receiving = receive(address, chain);
    const refresh = (/** @type {Event} */ event) =>
      run(/** @type {HTMLElement} */ (event.currentTarget), () => shownBalances(balances, address, chainId));
    body.replaceChildren(
      balances,
      el(
        "div",
        { class: "buttons" },
        button(text("send.open"), () => go("send"), { kind: "main", name: "send" }),
        faucetButton(address, funded),
      ),
      el("h3", {}, text("vault.address")),
      el("p", { class: "mono", "data-name": "address" }, grouped(address)),
      el(
        "div",
        { class: "buttons" },
        about(copyButton(address), text("vault.address")),
        button(text("vault.refresh"), refresh, { name: "refresh" }),
      ),
      receiving,
    );
    // A person whose account is empty needs money first.
    if (await shownBalances(balances, address, chainId)) receiving.open = true;
  } catch (error) {
    body.replaceChildren(
      paragraph(isUnreached(error) ? "vault.noaccount.offline" : "vault.noaccount"),
      el(
        "div",
        { class: "buttons" },
        button(text("again"), () => filled(body, funded), { name: "account-again" }),
      ),
    );
  }
}

/**
 * Shows the QR code of an account's address when it is opened.
 *
 * @param {string} address
 * @param {string} chain
 * @returns {HTMLDetailsElement}
 */
function receive(address, chain) {
  return el(
    "details",
    { "data-name": "receive" },
    el("summary", {}, text("vault.receive")),
    qrCode(address, text("vault.qr", { address })),
    paragraph("vault.receive.hint", { chain }),
  );
}

/**
 * Shows where money can be sent to an account that has too little.
 *
 * @param {string} address
 * @param {string} chain
 * @param {() => unknown} funded called when the account has been given test money
 */
export function receiveHere(address, chain, funded) {
  const shown = receive(address, chain);
  shown.open = true;
  shown
    .querySelector("summary")
    ?.after(
      el("p", { class: "mono" }, grouped(address)),
      el("div", { class: "buttons" }, copyButton(address), faucetButton(address, funded)),
    );
  return el("div", { "data-name": "too-little" }, shown);
}

/** Returns the sentence that the chain's money has no value, on chains for tests. */
export const testMoney = () => TEST_MONEY && paragraph("vault.testmoney", {}, "small");

/**
 * @param {HTMLElement} container
 * @param {string} account
 * @param {number} chainId
 * @returns {Promise<boolean>} whether the account is known to be empty
 */
async function shownBalances(container, account, chainId) {
  const client = await ready();
  const replies = TOKENS.map((token) =>
    client
      .balance({ account, token, chainId: String(chainId) })
      .catch((error) => (isUnreached(error) ? "offline" : "unknown")),
  );
  const answers = await Promise.all(replies);
  const known = answers.filter((it) => typeof it !== "string");
  if (known.length === 0) {
    container.replaceChildren(
      paragraph(/** @type {import("../parts/language.js").TextKey} */ (`vault.balance.${answers[0]}`)),
    );
    return false;
  }
  container.replaceChildren(
    ...known.map((it) => el("p", { class: "amount" }, amount(it.formatted, it.symbol))),
    testMoney() || "",
    paragraph("vault.balance.time", { time: moment(Date.now()) }, "small"),
  );
  return known.length === TOKENS.length && known.every(({ balance }) => BigInt(balance) === 0n);
}

/** The card about the smart account: its address, its balances, and a QR code for receiving payments. */

import { meta } from "../../kit/meta.ts";
import { copyButton } from "../parts/copy.ts";
import { amount, moment, text, type TextKey } from "../parts/language.ts";
import { about, button, el, paragraph, type Press } from "../parts/nodes.ts";
import { go } from "../parts/router.ts";
import { run } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "./card.ts";
import { faucetButton } from "./faucet.ts";
import { qrCode } from "../../kit/qr_code.ts";
import { grouped } from "./values.ts";

const TOKENS = ["USDC", "ETH"];
const TEST_MONEY = Boolean(meta("test-money"));

/** Whether the service was not reached; refusals are kinds of NetworkError too. */
const isUnreached = (error: unknown) => error instanceof Error && error.name === "NetworkError";

/**
 * Returns the card. The card appears at once, and the balances are added when the network responds.
 *
 * @param funded called when the account has been given test money
 */
export async function accountCard(funded: () => unknown) {
  const body = el("div", {}, paragraph("working", {}, "small"));
  void filled(body, funded);
  return card("account", text("vault.accounts"), body);
}

async function filled(body: HTMLElement, funded: () => unknown) {
  try {
    const client = await ready();
    const [{ address }, { chain, chainId }] = await Promise.all([client.account(), client.status()]);
    const balances = el("div", { "data-name": "balances" });
    const receiving = receive(address, chain);
    const refresh = (event: Press) => run(event.currentTarget, () => shownBalances(balances, address, chainId));
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

/** Shows the QR code of an account's address when it is opened. */
function receive(address: string, chain: string): HTMLDetailsElement {
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
 * @param funded called when the account has been given test money
 */
export function receiveHere(address: string, chain: string, funded: () => unknown) {
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

/** @returns whether the account is known to be empty */
async function shownBalances(container: HTMLElement, account: string, chainId: number): Promise<boolean> {
  const client = await ready();
  const replies = TOKENS.map((token) =>
    client
      .balance({ account, token, chainId: String(chainId) })
      .catch((error) => (isUnreached(error) ? "offline" : "unknown")),
  );
  const answers = await Promise.all(replies);
  const known = answers.filter((it) => typeof it !== "string");
  if (known.length === 0) {
    container.replaceChildren(paragraph(`vault.balance.${answers[0]}` as TextKey));
    return false;
  }
  container.replaceChildren(
    ...known.map((it) => el("p", { class: "amount" }, amount(it.formatted, it.symbol).replace("\u00a0", " "))),
    testMoney() || "",
    paragraph("vault.balance.time", { time: moment(Date.now()) }, "small"),
  );
  return known.length === TOKENS.length && known.every(({ balance }) => BigInt(balance) === 0n);
}

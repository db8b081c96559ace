/** What the screens of a payment say of payees and amounts, and what they keep. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { one, press, type, until } from "./dom.js";
import { HELD, ROW, client, onPage, visited } from "./on_page.js";
import {
  AccountNotFunded,
  NetworkError,
  OperationFailed,
  PaymentRefused,
  PluginCallError,
  RequestRefused,
  SecondKeyMissing,
  StorageError,
  Vault,
  VaultStore,
} from "../src/holdfast.ts";
import { Bundler } from "../src/chain/bundler.ts";
import { noteSent } from "../src/kit/notes.ts";
import { text } from "../src/pages/parts/language.ts";
import { problem } from "../src/pages/parts/problems.ts";
import { addScreens } from "../src/pages/parts/router.ts";
import { show } from "../src/pages/parts/screen.ts";
import { sendError } from "../src/pages/send/errors.ts";
import { keptTyped, send } from "../src/pages/send/form.ts";
import { resolved } from "../src/pages/send/payee.ts";
import { byPassword } from "../src/pages/send/person.ts";
import { sending } from "../src/pages/send/sending.ts";
import { sentFrom } from "../src/pages/send/sent.ts";
import { COIN } from "../src/pages/send/tokens.ts";
import { delegate } from "../src/pages/spending/delegate.ts";
import { spendingRows } from "../src/pages/spending/list.ts";
import { gone } from "../src/pages/vault/unlock.ts";

const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const CHECKSUMMED = "0x52908400098527886E0F7030069857D2E4169EE7";
for (const [typed, key] of [
  ["Bob@Example.com", "send.bad.email"],
  ["+49 151 23456789", "send.bad.phone"],
  ["vitalik.eth", "send.bad.host"],
  ["0x5290…69ee7", "send.bad.copied"],
  [CHECKSUMMED.slice(0, -1), "send.bad.copied"],
  ["my friend Ann", "send.bad.to"],
  [CHECKSUMMED.replace("E7", "e7"), "send.bad.checksum"],
  ["unknown", "send.bad.name"],
])
  onPage(`${typed} is refused as a payee, and only a name is looked up`, async (context) => {
    const looked = [];
    client(context, {
      vault: { keccak256: async (data) => (await import("../src/did/keccak.ts")).keccak256(data) },
      checkAlias: async ({ alias }) => (looked.push(alias), { available: true }),
    });
    context.mock.method(Vault.prototype, "call", async () => ({ address: CHECKSUMMED }));
    await assert.rejects(resolved(typed), { key });
    assert.deepEqual(looked, key === "send.bad.name" ? ["unknown"] : []);
  });

onPage("a vault that fails while it computes a checksum does not make the address a wrong one", async (context) => {
  const gone = new PluginCallError("invoke", "the worker has stopped");
  client(context, { vault: { keccak256: async () => Promise.reject(gone) } });
  await assert.rejects(resolved(CHECKSUMMED), gone);
});

onPage("of a permission is said which function it lets an app call", async (context) => {
  const target = `0x${"11".repeat(20)}`;
  const permission = { keyId: "0x1", token: target, allowance: 5n, period: 0, until: 0, target };
  const list = async () =>
    ["0x00000000", "0xa9059cbb"].map((it) => ({
      id: it,
      permission: { ...permission, function: it },
      spent: 0n,
      to: "",
    }));
  client(context, { accountSpending: async () => ({ list }) });
  context.mock.method(Vault.prototype, "keccak256", async () => `0x${"0".repeat(64)}`);
  await spendingRows(document.body);
  const [plain, calling] = document.body.querySelectorAll("[data-permission]").map((it) => it.textContent);
  assert.deepEqual(
    [plain.includes(text("spend.only", { payee: target })), plain.includes("0xa9059cbb")],
    [true, false],
  );
  assert.ok(calling.includes(text("spend.calls", { name: "0xa9059cbb" })));
});

for (const [receipt, state] of [
  [{}, "sent"],
  [{ userOpHash: `0x${"22".repeat(32)}`, success: true }, "sent"],
  [{ success: true }, "confirmed"],
  [{ success: false }, "failed"],
])
  onPage(`a payment with the receipt ${JSON.stringify(receipt)} is ${state}`, async (context) => {
    const [did, hash] = [`did:${state}:${Object.keys(receipt)}`, `0x${"11".repeat(32)}`];
    const mined = { userOpHash: hash, receipt: { transactionHash: hash, blockNumber: "0x3" } };
    const bundler = async () => (receipt.success === undefined ? receipt : { ...mined, ...receipt });
    client(context, { bundler, account: async () => ({ bundler: new Bundler({ bundler }, "0x") }) });
    await noteSent(did, { hash, state: "sent" });
    assert.deepEqual(await sentFrom(did), [{ hash, state }]);
  });

onPage("the form of a payment says what the account has of the chosen token", async (context) => {
  client(context, HELD);
  send();
  const words = (have) => text("send.held", { have });
  await until(() => one("form").textContent.includes(words("5.00\u00a0USDC")));
  const token = one("select");
  token.value = "ETH";
  token.dispatchEvent(new Event("change"));
  await until(() => one("form").textContent.includes(words("0.00\u00a0ETH")));
});

for (const [typed, unclear] of [
  ["1,234", "1234"],
  ["1.234", ""],
  ["12,34", ""],
  ["0,123", ""],
  ["1,234,567", "1234567"],
])
  onPage(`an amount that can be read in two ways is refused: ${typed}`, async () => {
    delegate();
    type("limit", typed);
    press("submit");
    const words = text("amount.unclear", { typed, digits: unclear });
    assert.equal(one('[name="limit"]').hasAttribute("aria-invalid"), Boolean(unclear));
    assert.equal(document.body.textContent.includes(words), Boolean(unclear));
  });

onPage("a payment that was typed when the vault became unavailable is there again, in this vault", async (context) => {
  client(context, HELD);
  addScreens({ elsewhere: () => void visited.push(["elsewhere"]) });
  const typed = { to: "bob", amount: "1.5", symbol: "ETH", again: undefined };
  const began = () => {
    keptTyped(ROW.did); // as the screen of the vault that is open
    send({ to: typed.to });
    type("amount", typed.amount);
    one("select").value = typed.symbol;
  };
  began();
  assert.equal(keptTyped(ROW.did), null);
  for (const [did, there] of [
    ["did:new:0x2", null],
    [ROW.did, typed],
    [ROW.did, null],
  ]) {
    if (did !== ROW.did || there) began();
    gone("taken");
    show({ name: "unlock", heading: "", body: [] });
    assert.deepEqual(keptTyped(did), there);
  }
  assert.deepEqual(visited.at(-1), ["elsewhere"]);
});

const failed = (message, more = {}) => Object.assign(new OperationFailed(message), more);
for (const [step, error, screen] of [
  ["sent", null, "send-done"],
  ["signed", failed("refused: AA23 reverted"), "send-failed"],
  ["sent", failed("no receipt in time"), "send-unconfirmed"],
])
  onPage(`a payment of which nothing can be stored ends as what it is: ${screen}`, async (context) => {
    context.mock.method(VaultStore.prototype, "changeNote", async () => Promise.reject(new StorageError("full")));
    client(context, {
      vault: { query: async () => ({ did: ROW.did }), exec: async () => ({ result: [] }) },
      pay: async (_, { onProgress }) => {
        await onProgress("signed", { userOpHash: "0x1" });
        if (step === "sent") onProgress("sent", {});
        return error ? Promise.reject(error) : { userOpHash: "0x1", explorerUrl: "" };
      },
    });
    const payee = { address: CHECKSUMMED };
    await sending({ planned: { payee, token: COIN, value: 1n, chain: "Base", chainId: 1, typed: {} }, fee: {} });
    assert.equal(one("main").dataset.screen, screen);
  });

const few = { address: CHECKSUMMED, balance: 0n, needed: 10n ** 15n };
for (const [error, how, words] of [
  [new PaymentRefused("none", "payee_unregistered"), {}, "DID is not registered, or not active."],
  [new AccountNotFunded("few", few), {}, "needs 0.001\u00a0ETH"],
  [new AccountNotFunded("few", { ...few, needed: 5_000_000n, token: USDC }), {}, "you need 5.00\u00a0USDC"],
  [new SecondKeyMissing(CHECKSUMMED, ["0x6b17d1f2"]), {}, "0x6b17d1f2"],
  [failed("an earlier one was mined", { earlier: "mined" }), {}, "has gone through in the meantime"],
  [failed("refused: AA25 invalid account nonce"), { handedOver: true }, text("send.earlier.unknown")],
  [failed("refused: AA23 reverted"), { handedOver: true }, "AA23 reverted"],
  [failed("no receipt in time"), { handedOver: true }, text("send.unconfirmed")],
  [failed("refused: too many questions"), { handedOver: true, sent: true }, text("send.unconfirmed")],
  [failed("the operation was mined and failed"), { sent: true }, text("chain_failed")],
  [new NetworkError("gone"), { handedOver: true }, text("send.unconfirmed")],
  [new NetworkError("gone"), {}, text("problem.offline")],
  [new RequestRefused("rate_limited", 429), {}, text("send.toomany")],
])
  test(`a payment that was not made, or of which it is not known: ${error.message} ${JSON.stringify(how)}`, () => {
    const said = problem(sendError(error, how));
    assert.ok(said.includes(words), said);
  });

onPage("a wrong password leads to the screen of the vault that it has locked", async (context) => {
  const did = "did:new:0x1";
  client(context, {
    vault: {
      query: async () => ({ did }),
      lock: async () => {},
      unlock: async () => ({ success: false, error: "wrong_key" }),
    },
  });
  await assert.rejects(byPassword("wrong"), { key: "problem.wrong_password" });
  assert.deepEqual(visited, [["vault", { locked: "unlock.locked" }]]);
});

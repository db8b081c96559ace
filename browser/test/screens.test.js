/** What single screens of the pages do, without a browser: what they say, and what they do with the client. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { navigatorHas, one, press, told, type, until } from "./dom.js";
import "./scenarios/clients.js"; // keeps the vaults' stores in memory
import {
  AccountNotFunded,
  Client,
  NetworkError,
  OperationFailed,
  PaymentRefused,
  PluginCallError,
  RequestRefused,
  SecondKeyMissing,
  Vault,
  VaultStore,
} from "../src/holdfast.ts";
import { consent } from "../src/pages/connect/consent.ts";
import { firstAnswer } from "../src/pages/connect/answered.ts";
import { fetchCopy } from "../src/pages/drill/trials.ts";
import { footer } from "../src/pages/footer.ts";
import { moveFrom } from "../src/pages/move/leave.ts";
import { make } from "../src/pages/move/make.ts";
import "../src/pages/move/texts.ts";
import { leave } from "../src/pages/leave/screen.ts";
import { el } from "../src/kit/el.ts";
import * as nodes from "../src/pages/parts/nodes.ts";
import { text } from "../src/pages/parts/language.ts";
import { problem } from "../src/pages/parts/problems.ts";
import { addScreens, opening } from "../src/pages/parts/router.ts";
import { SERVICE, preparing, run, say, show } from "../src/pages/parts/screen.ts";
import { setBegun } from "../src/pages/parts/notes.ts";
import { choose } from "../src/pages/register/choose.ts";
import { finish } from "../src/pages/register/finish.ts";
import { prove } from "../src/pages/register/prove.ts";
import { safety } from "../src/pages/register/safety.ts";
import { sendError } from "../src/pages/send/errors.ts";
import { send } from "../src/pages/send/form.ts";
import { resolved } from "../src/pages/send/payee.ts";
import { spendingRows } from "../src/pages/spending/list.ts";
import { showState, start } from "../src/pages/start.ts";
import { obstacle } from "../src/pages/parts/obstacle.ts";
import { passkeysCard } from "../src/pages/vault/passkeys.ts";

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
/** Notes where the pages go. */
const visited = [];
for (const name of ["home", "choose", "vault", "prove", "safety", "passkey", "finish"])
  addScreens({ [name]: (given) => void visited.push([name, given]) });

/** A test on an empty page. A hook would also run before the tests of other files. */
const onPage = (name, work) =>
  test(name, (context) => {
    document.fill();
    visited.length = 0;
    return work(context);
  });

/** What the form of a payment asks for. */
const HELD = {
  account: async () => ({ address: "0x01" }),
  status: async () => ({ chainId: 1, chain: "Base" }),
  balance: async ({ token }) => ({ balance: token === "ETH" ? "0" : "5000000" }),
};

/** Replaces methods of the pages' client. */
function client(context, methods) {
  const { vault = {}, ...rest } = methods;
  for (const [of, chosen] of [
    [Client.prototype, { boot: async () => ({}), ...rest }],
    [Vault.prototype, vault],
  ])
    for (const [name, method] of Object.entries(chosen)) context.mock.method(of, name, method);
}

const ROW = { channel: "handle", identifier: "ada", did: "did:new:0x1", credentialId: "AAAA" };

for (const [registered, said] of [
  [true, "passkeys.added"],
  [false, "passkeys.unregistered"],
])
  onPage(`of a new passkey is said whether the service knows it: ${registered}`, async (context) => {
    client(context, {
      vault: { query: async () => ({ did: ROW.did }), parse: async () => ({ parsed: {} }) },
      addPasskey: async () => ({ credentialId: "BBBB", credential: "", registered }),
    });
    const vault = { credentials: [], wraps: [], unregistered: [], name: "ada", did: ROW.did, record: ROW };
    document.body.append(await passkeysCard(vault));
    press("add");
    await until(() => visited.length);
    assert.deepEqual(visited, [["home", { said: text(said) }]]);
    await safety(ROW);
    press("second");
    await until(() => told("status") === text(registered ? "safety.added" : said));
  });

onPage("once the service knows the name, nothing but the first copy is awaited, and it is said", async (context) => {
  client(context, {
    vault: { status: async () => ({ locked: false }) },
    status: async () => ({ chain: "Base Sepolia" }),
    account: async () => ({}),
    register: async ({ handle, onProgress }) => {
      for (const step of ["session", "sent to the chain", "on the chain"]) onProgress(step);
      assert.equal(told("status"), text("working"));
      return { did: ROW.did, identifier: handle, txHash: `0x${"12".repeat(32)}` };
    },
    snapshots: () => new Promise(() => {}),
  });
  await setBegun(ROW);
  void finish(ROW);
  await until(() => document.querySelector('[data-step="copy"]')?.dataset.state === "busy");
  assert.equal(told("status"), "");
  assert.ok(document.body.textContent.includes(text("finish.copy.lead")));
  assert.deepEqual(
    document.querySelectorAll("[data-step]").map((it) => it.dataset.state),
    ["done", "done", "done", "done", "done", "busy"],
  );
  assert.equal(localStorage.getItem("holdfast-registration"), null, "the registration has ended");
});

onPage(
  "a vault that locks itself during a registration is asked for, and the registration goes on",
  async (context) => {
    let locked = false;
    const attempts = [];
    client(context, {
      vault: {
        status: async () => ({ locked }),
        unlock: async (key) => {
          locked = false;
          attempts.push(key.password);
          return { success: true };
        },
      },
      status: async () => ({ chain: "" }),
      account: async () => ({}),
      register: async ({ handle }) => {
        attempts.push(handle);
        if (attempts.length > 1) return { did: ROW.did, identifier: handle, txHash: `0x${"12".repeat(32)}` };
        locked = true;
        throw new PluginCallError("invoke", "the vault is locked", "vault_locked");
      },
      snapshots: () => new Promise(() => {}),
    });
    await finish({ ...ROW, password: true });
    assert.equal(one("main").dataset.screen, "finish-unlock");
    type("password", "correct horse");
    press("submit");
    await until(() => document.querySelector('[data-step="copy"]')?.dataset.state === "busy");
    assert.deepEqual(attempts, ["ada", "correct horse", "ada"]);
  },
);

for (const [error, goes] of [
  [new RequestRefused("identifier_taken", 409), "choose"],
  [new RequestRefused("attestation_expired", 403), "prove"],
  [new NetworkError("gone"), null],
])
  onPage(
    `a registration that fails with ${error.message} goes to ${goes ?? "where it can be tried again"}`,
    async (context) => {
      context.mock.timers.enable({ apis: ["setTimeout"] });
      client(context, {
        vault: { status: async () => ({ locked: false }) },
        status: async () => ({ chain: "" }),
        account: async () => ({}),
        register: async () => Promise.reject(error),
      });
      await finish({ ...ROW, attestation: "proof" });
      assert.notEqual(told("alert"), "");
      const screen = one("main").dataset.screen;
      if (goes) assert.deepEqual(visited.at(-1), [goes, { ...ROW, attestation: undefined }]);
      else assert.deepEqual([visited, screen], [[], "finish-failed"]);
      show({ name: "", heading: "", body: [] }); // ends the screen's timer
    },
  );

/** The screen for leaving, with what it gets from the pages. */
async function leaving(found, more = {}) {
  const parts = {
    ...nodes,
    text,
    SERVICE,
    preparing,
    run,
    say,
    show,
    el,
    meta: () => "",
    go: async (name) => void visited.push([name]),
    confirmed: async () => true,
    ready: async () => ({ exportPerson: async () => found }),
    ...more,
  };
  await leave(parts);
}

const PERSON = { identifiers: [{ channel: "handle", key: "ada", given: "ada" }], credentials: [{}], snapshots: [] };

onPage("what is stored is saved as a file whose address is given up later", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const addresses = [];
  context.mock.method(URL, "createObjectURL", (blob) => (addresses.push(blob), "blob:1"));
  context.mock.method(URL, "revokeObjectURL", (address) => addresses.push(address));
  await leaving(PERSON);
  press("download");
  await until(() => told("status") !== "");
  assert.deepEqual(JSON.parse(await addresses[0].text()), PERSON);
  assert.equal(addresses.length, 1);
  context.mock.timers.tick(60_000);
  assert.deepEqual(addresses.slice(1), ["blob:1"]);
});

for (const agrees of [true, false])
  onPage(`a name is given back, and all is deleted, only if the person agrees: ${agrees}`, async () => {
    const taken = [];
    const takeBack = async (what) => void taken.push(what);
    const ready = async () => ({ exportPerson: async () => PERSON, takeBack });
    await leaving(PERSON, { ready, confirmed: async () => agrees });
    for (const [number, name] of ["free", "erase"].entries()) {
      press(name);
      await (agrees ? until(() => taken.length > number) : settled());
    }
    assert.deepEqual(taken, agrees ? [{ identifier: "ada", channel: "handle" }, { everything: true }] : []);
  });

onPage("a vault that is removed is locked and forgotten, with what the pages know of its passkeys", async () => {
  const did = "did:new:0x1";
  const asked = [];
  const vault = {
    query: async () => ({ did, credentials: [{ credential_id: "AAAA" }] }),
    lock: async () => void asked.push("lock"),
    forget: async (of) => void asked.push(of),
  };
  await leaving(PERSON, {
    ready: async () => ({ vault, exportPerson: async () => PERSON }),
    setVaultOf: async (...given) => void asked.push(given),
    unmarkVault: () => asked.push("unmarked"),
  });
  press("forget");
  await until(() => visited.length > 0);
  assert.deepEqual(asked, ["lock", did, ["AAAA", null], "unmarked"]);
});

for (const [offline, failing, words] of [
  [true, "", "offline"],
  [false, "status", "down"],
  [false, "readyz", "down"],
  [false, "balance", "partly"],
  [false, "", "works"],
])
  onPage(`the footer says how the service is: ${words}${failing && ` without ${failing}`}`, async (context) => {
    const answers = { status: { chainId: 1 }, readyz: {}, balance: {} };
    const answer = (name) => async () => (name === failing ? Promise.reject(new NetworkError("x")) : answers[name]);
    client(context, Object.fromEntries(Object.keys(answers).map((name) => [name, answer(name)])));
    navigatorHas("onLine", !offline);
    const node = el("span");
    await showState(node);
    navigatorHas("onLine", true);
    assert.equal(node.textContent, text(`footer.${words}`));
  });

onPage("a state that comes late does not replace a newer one", async (context) => {
  let late;
  const first = new Promise((_, reject) => (late = reject));
  const answers = [first, Promise.resolve({ chainId: 1 })];
  client(context, { status: () => answers.shift(), readyz: async () => ({}), balance: async () => ({}) });
  const node = el("span");
  const shown = showState(node);
  await showState(node);
  late(new NetworkError("too late"));
  await shown;
  assert.equal(node.textContent, text("footer.works"));
});

onPage("the footer names a test network, and switches the language of the screen", async (context) => {
  client(context, { status: async () => Promise.reject(new NetworkError("x")) });
  const turned = context.mock.fn();
  footer(turned);
  assert.deepEqual([document.documentElement.lang, one("#test-network").hidden], ["en", true]);
  const money = document.createElement("meta");
  money.name = "holdfast-test-money";
  money.setAttribute("content", "yes");
  document.head.append(money);
  press("language");
  assert.deepEqual([document.documentElement.lang, told("test-network")], ["de", text("network.test")]);
  assert.match(told("test-network"), /Testnetz/);
  money.remove();
  press("language");
  assert.equal(turned.mock.callCount(), 2);
  assert.deepEqual([document.documentElement.lang, told("test-network")], ["en", ""]);
});

onPage("an unfinished registration is offered; another name keeps the vault and drops the proof", async () => {
  await setBegun({ ...ROW, attestation: "proof" });
  await start();
  assert.equal(one("main").dataset.screen, "resume");
  press("other");
  await until(() => visited.length > 0);
  await start();
  assert.equal(one("main").dataset.screen, "resume");
  assert.deepEqual(await new VaultStore().note("pages:registration"), { ...ROW, attestation: undefined });
  await setBegun(null);
  await start();
  assert.equal(one("main").dataset.screen, "start");
});

onPage("a browser in which passkeys are impossible is told why", (context) => {
  context.after(() => (globalThis.location.hostname = "vault.example"));
  assert.match(obstacle().textContent, /This browser does not support passkeys/);
  globalThis.PublicKeyCredential = class {};
  navigatorHas("credentials", {});
  assert.equal(obstacle(), null);
  globalThis.location.hostname = "127.0.0.1";
  assert.equal(one("a", obstacle()).href, "https://vault.example/");
  context.mock.getter(localStorage, "length", () => {
    throw new DOMException("blocked", "SecurityError");
  });
  assert.match(obstacle().textContent, /Allow cookies and site data/);
  delete globalThis.PublicKeyCredential;
});

const TAKEN = { available: false, reason: "taken" };
for (const [name, answer, words] of [
  ["", {}, "Fill in this field"],
  ["admin", { available: false, reason: "reserved" }, "This name is reserved."],
  ["ann@example.com", { available: false, reason: "reserved" }, "This is an e-mail address, not a name."],
  ["+49 151 23456789", new RequestRefused("Invalid identifier", 400), "This is a phone number, not a name."],
  ["amazon.com", { available: false, reason: "reserved" }, "This reads as an account address or a website"],
  ["\u0430nna", { available: false, reason: "reserved" }, "This name can be mistaken for another one"],
  ["ada", TAKEN, "This name is taken."],
])
  onPage(`a name that cannot be registered: "${name}"`, async (context) => {
    const checkSession = async () => (answer instanceof Error ? Promise.reject(answer) : answer);
    client(context, { checkSession, registrationCounters: async () => ({}) });
    choose();
    type("handle", name);
    press("submit");
    await until(() => one(".verdict").textContent.includes(words));
    assert.deepEqual(visited, []);
    assert.equal(one('[data-name="yours"]').parentElement.hidden, answer !== TAKEN);
  });

onPage("a network that has registered enough is told before a passkey is made", async (context) => {
  client(context, {
    checkSession: async () => ({ available: true }),
    registrationCounters: async () => ({ ip_registrations: 3, ip_limit: 3 }),
  });
  choose();
  type("handle", "ada");
  press("submit");
  await until(() => one(".verdict").textContent.includes(text("problem.ip_limit")));
  assert.deepEqual(visited, []);
});

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

/** The screen of a request to sign a long text, in a box that shows 100 of its 900 pixels. */
async function asked(context, more = {}) {
  client(context, { vault: { query: async () => ({ did: "did:new:0x1" }) } });
  const requested = { name: "", account: false, sign: { text: "I log in.", challenge: "c" }, delegate: null };
  let box = null;
  const create = document.createElement;
  context.mock.method(document, "createElement", (name) => {
    const made = create(name);
    if (name === "pre") box = Object.assign(made, { scrollTop: 0, clientHeight: 100, scrollHeight: 900 });
    return made;
  });
  const refused = () => visited.push("refused");
  assert.ok(
    await consent({ origin: new URL("https://app.example"), requested, allowed: async () => {}, refused, ...more }),
  );
  return { box, allow: one('[data-name="allow"]') };
}

onPage("a long text can be signed once its end was on screen, and the button is not touched again", async (context) => {
  const { box, allow } = await asked(context);
  const scrolled = (top) => ((box.scrollTop = top), box.dispatchEvent(new Event("scroll")), allow.disabled);
  assert.deepEqual([allow.disabled, scrolled(790), scrolled(799)], [true, true, false]);
  allow.disabled = true; // while it works
  assert.ok(scrolled(0) && scrolled(799));
});

onPage("a click that comes too early allows nothing", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { box, allow } = await asked(context);
  box.scrollTop = 800;
  box.dispatchEvent(new Event("scroll"));
  for (const again of [false, true]) {
    if (again) dispatchEvent(new Event("focus")); // the window returns to the front
    allow.click();
    assert.equal(allow.disabled, false, "nothing runs");
    context.mock.timers.tick(500);
  }
  allow.click();
  assert.equal(allow.disabled, true);
});

onPage("a request is answered once", async () => {
  const request = { origin: "https://app.example", state: "a".repeat(32), expires: Date.now() / 1000 + 60 };
  assert.equal(await firstAnswer(request), true);
  assert.equal(await firstAnswer({ ...request, state: "b".repeat(32) }), true);
  assert.equal(await firstAnswer(request), false);
  assert.equal(await firstAnswer({ ...request, origin: "https://other.example" }), true);
});

const PROVING = { ...ROW, channel: "email", identifier: "ada@example.com" };
const isProven = { verified: true, attestation: "proof" };
/** The screen of a code that the service has sent; `verdicts` are the answers to what is entered. */
async function proving(context, row, verdicts = [isProven], sent = async () => ({})) {
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: 1_700_000_000_000 });
  context.after(() => show({ name: "", heading: "", body: [] })); // ends the screen's timers
  const checked = [];
  client(context, { sendCode: sent, checkCode: async ({ code }) => (checked.push(code), verdicts.shift()) });
  await prove(row);
  return checked;
}

onPage("a code is sent by itself once it is whole, also out of a sentence, and the same one once", async (context) => {
  const wrong = { verified: false, message: "Incorrect code. 4 attempts remaining." };
  const checked = await proving(context, PROVING, [wrong, isProven]);
  assert.equal(document.activeElement.name, "code");
  type("code", "12 34");
  press("submit");
  assert.match(one(".verdict").textContent, /A code has six digits. This has fewer/);
  type("code", "123 456");
  await until(() => checked.length === 1);
  type("code", "123456");
  type("code", "Your code is \uff16\uff15\uff14 321.");
  await until(() => checked.length === 2);
  assert.deepEqual(checked, ["123456", "654321"]);
  await until(() => visited.length > 0);
});

onPage("a code can be requested again after a while, and its end is announced", async (context) => {
  let sent = 0;
  await proving(context, PROVING, [], async () => (sent += 1));
  const resend = one('[data-name="resend"]');
  assert.ok(resend.disabled);
  context.mock.timers.tick(61_000);
  assert.equal(told("status"), text("prove.soon"));
  assert.equal(resend.disabled, false);
  context.mock.timers.tick(30_000);
  assert.equal(told("status"), text("prove.over"));
  press("resend");
  await until(() => told("status") === text("prove.resent"));
  assert.equal(sent, 2);
});

onPage("a mail that cannot be sent is told, with another way", async (context) => {
  const refused = new RequestRefused("email_send_failed", 502);
  await proving(context, PROVING, [], async () => Promise.reject(refused));
  assert.match(told("alert"), /We could not send the code\. This try does not count\./);
  press("change");
  assert.deepEqual(visited, [["choose", { ...PROVING, attestation: undefined }]]);
});

onPage("a screen that cannot be loaded or drawn says why, and its button can be pressed again", async () => {
  const failures = [new TypeError("Failed to fetch dynamically imported module: x"), new NetworkError("none")];
  addScreens({ keys: async () => Promise.reject(failures.shift()) });
  show({ name: "home", heading: "Vault", body: [nodes.button("Keys", opening("keys"), { name: "keys" })] });
  while (failures.length > 0) {
    press("keys");
    assert.equal(told("status"), text("working"));
    await until(() => told("alert") === text("problem.offline"));
    assert.equal(one('[data-name="keys"]').disabled, false);
  }
});

for (const [screen, name, to] of [
  [send, "back", "home"],
  [() => safety(ROW), "later", "vault"],
])
  onPage(`while another screen is prepared, that is said, and no button acts twice: ${name}`, async (context) => {
    client(context, HELD);
    await screen();
    let shown;
    addScreens({ [to]: () => new Promise((done) => (shown = done)) });
    context.after(() => addScreens({ [to]: (given) => void visited.push([to, given]) }));
    press(name);
    assert.deepEqual([told("status"), one(`[data-name="${name}"]`).disabled], [text("working"), true]);
    shown();
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

onPage(
  "a move says which service is silent; until its window answers, the page says to go on there",
  async (context) => {
    const did = ROW.did;
    const moveCheck = context.mock.fn(async () => ({ identifier: "ada", did }));
    moveCheck.mock.mockImplementationOnce(() => Promise.reject(new NetworkError("no answer in time")));
    client(context, {
      moveCheck,
      move: async (_address, { make: makes }, { onProgress }) => {
        onProgress("checked");
        await makes({});
      },
    });
    const opened = { closed: false };
    context.mock.method(((globalThis.open ??= () => null), globalThis), "open", () => opened);
    moveFrom();
    type("host", "new.example");
    press("submit");
    await until(() => told("alert") === text("move.unreachable", { host: "new.example" }));
    press("submit");
    await until(() => one("main").dataset.screen === "move-review");
    type("again", "new.example");
    press("submit");
    await settled();
    assert.equal(told("status"), text("move.waiting", { host: "new.example" }));
    opened.closed = true;
    await until(() => told("alert") === text("move.closed", { host: "new.example" }));
  },
);

onPage("a code that is sent too late does not bring its screen back", async (context) => {
  let send;
  const screen = proving(context, PROVING, [], () => new Promise((done) => (send = done)));
  show({ name: "resume", heading: "", body: [] });
  send({});
  await screen;
  assert.equal(one("main").dataset.screen, "resume");
});

onPage("the browser takes the code out of a text message, and no request outlives its screen", async (context) => {
  let asked;
  const get = ({ otp, signal }) => new Promise((done) => (asked = { otp, signal, give: (code) => done({ code }) }));
  navigatorHas("credentials", { get });
  globalThis.OTPCredential = class {};
  context.after(() => (delete globalThis.OTPCredential, navigatorHas("credentials", undefined)));
  const checked = await proving(context, { ...PROVING, channel: "sms", identifier: "+491512345678" });
  const kind = ["autocomplete", "inputmode"].map((name) => one('[name="code"]').getAttribute(name));
  assert.deepEqual([kind, asked.otp], [["one-time-code", "numeric"], { transport: ["sms"] }]);
  asked.give("123456");
  await until(() => visited.length > 0);
  assert.deepEqual(checked, ["123456"]);
  show({ name: "", heading: "", body: [] });
  assert.ok(asked.signal.aborted);
});

const failed = (message, more = {}) => Object.assign(new OperationFailed(message), more);
const few = { address: CHECKSUMMED, balance: 0n, needed: 10n ** 15n };
for (const [error, how, words] of [
  [new PaymentRefused("none", "payee_unregistered"), {}, "DID is not registered, or not active."],
  [new AccountNotFunded("few", few), {}, "needs 0.001\u00a0ETH"],
  [new AccountNotFunded("few", { ...few, needed: 5_000_000n, token: USDC }), {}, "you need 5.00\u00a0USDC"],
  [new SecondKeyMissing(CHECKSUMMED, ["0x6b17d1f2"]), {}, "0x6b17d1f2"],
  [failed("an earlier one was mined", { earlier: "mined" }), {}, "has gone through in the meantime"],
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

onPage("of a code that has no tries left, no end is announced", async (context) => {
  const checked = await proving(context, PROVING, [
    { verified: false, message: "Too many attempts. Request a new code." },
  ]);
  type("code", "123456");
  await until(() => checked.length === 1 && one(".verdict").textContent === text("prove.burnt"));
  assert.equal(one('[data-name="left"]').textContent, "");
  say("");
  context.mock.timers.tick(61_000);
  assert.deepEqual([told("status"), one('[data-name="left"]').textContent], ["", ""]);
});

onPage("the drill says whether the copy has this browser's last change, and leaves nothing behind", async (context) => {
  const deleted = [];
  globalThis.indexedDB = { deleteDatabase: (name) => deleted.push(name) };
  context.after(() => delete globalThis.indexedDB);
  const found = { did: ROW.did, updatedAt: 5, revision: 8 };
  client(context, { recover: async () => found, close: async () => {} });
  const stored = { revision: 9 };
  context.mock.method(VaultStore.prototype, "load", async () => stored);
  assert.deepEqual(await fetchCopy(ROW.did, {}), { updatedAt: 5, newest: false });
  stored.revision = 8;
  assert.deepEqual(await fetchCopy(ROW.did, {}), { updatedAt: 5, newest: true });
  await assert.rejects(fetchCopy("did:new:0x2", {}), { key: "drill.file.other" });
  assert.deepEqual(deleted, Array(3).fill("holdfast-trial"));
});

onPage(
  "a passkey that another page asks for replaces none: its user handle ends with random bytes",
  async (context) => {
    const handles = [];
    const create = async ({ publicKey }) => {
      handles.push(Buffer.from(publicKey.user.id).toString("hex"));
      throw new DOMException("", "NotAllowedError");
    };
    globalThis.PublicKeyCredential = class {};
    navigatorHas("credentials", { create });
    context.after(() => (delete globalThis.PublicKeyCredential, navigatorHas("credentials", undefined)));
    const wanted = { name: "ada", userHandle: "ab".repeat(32), challenge: new Uint8Array(32) };
    const opener = {
      postMessage({ type, word }) {
        const data = { holdfast: "move/1", type: "make", word, ...wanted };
        const told = Object.assign(new Event("message"), { source: opener, origin: "https://old.example", data });
        if (type === "ready") setImmediate(() => dispatchEvent(told));
      },
    };
    await make(opener);
    await until(() => !one('[data-name="make"]').ariaDisabled); // a click meant for the other page is ignored
    press("make");
    await until(() => handles.length === 1);
    await until(() => !one('[data-name="make"]').disabled);
    press("make");
    await until(() => handles.length === 2);
    for (const handle of handles) assert.match(handle, new RegExp(`^${wanted.userHandle}[0-9a-f]{64}$`));
    assert.notEqual(handles[0], handles[1]);
  },
);

/** What the screens of a registration say and do, without a browser. */

import assert from "node:assert/strict";

import { navigatorHas, one, press, told, type, until } from "./dom.js";
import { ROW, client, onPage, visited } from "./on_page.js";
import { NetworkError, PluginCallError, RequestRefused, VaultStore } from "../src/holdfast.ts";
import { text } from "../src/pages/parts/language.ts";
import { say, show } from "../src/pages/parts/screen.ts";
import { setBegun } from "../src/pages/parts/notes.ts";
import { choose } from "../src/pages/register/choose.ts";
import { finish } from "../src/pages/register/finish.ts";
import { prove } from "../src/pages/register/prove.ts";
import { safety } from "../src/pages/register/safety.ts";
import { start } from "../src/pages/start.ts";
import { recordOf } from "../src/pages/vault/home.ts";
import { identityCard } from "../src/pages/vault/identity.ts";
import { passkeysCard } from "../src/pages/vault/passkeys.ts";

onPage("a vault that no service knows is registered with its newest passkey: after a move, its only one here", () => {
  const ids = ["former", "newest"];
  const credentials = ids.map((it) => ({ credential_id: it }));
  document.body.append(identityCard({ did: ROW.did, name: "ada", record: null, unregistered: ids, credentials }));
  press("register");
  assert.equal(visited[0][1].credentialId, "newest");
});

onPage("what a stranger has registered under a passkey's ID is not taken for the vault's name", async () => {
  const records = { theirs: { found: true, did: "did:new:0x2" }, ours: { found: true, did: ROW.did } };
  const lookupDid = async ({ credentialId }) => records[credentialId] ?? { found: false };
  const found = await recordOf({ lookupDid }, ROW.did, ["theirs", "ours", "none"]);
  assert.deepEqual(found, { record: records.ours, unregistered: ["none"] });
});

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
      assert.equal(one('[data-step="service"]').textContent, "In progress: Saved", "it is not said to be done");
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
  assert.equal(one('[data-step="service"]').textContent, "Done: Saved");
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

const PROVEN = { ...ROW, channel: "email", attestation: { expires_at: "2001-01-01T00:00:00Z" } }; // by a wrong clock
for (const [error, goes, words = ""] of [
  [new RequestRefused("identifier_taken", 409), "choose"],
  [new RequestRefused("attestation_expired", 403), "prove"],
  [new NetworkError("gone"), null],
  [new RequestRefused("http_429", 429), null, "The service cannot answer right now."],
  [new RequestRefused("rate_limited", 429, { retryAfter: 60 }), null, "Too many requests."],
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
      await finish(PROVEN);
      assert.ok(told("alert") !== "" && told("alert").startsWith(words), told("alert"));
      const screen = one("main").dataset.screen;
      if (goes) assert.deepEqual(visited.at(-1), [goes, { ...PROVEN, attestation: undefined }]);
      else assert.deepEqual([visited, screen], [[], "finish-failed"]);
      show({ name: "", heading: "", body: [] }); // ends the screen's timer
    },
  );

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
  let lose;
  const limited = async () => {
    sent += 1;
    if (sent === 2) await new Promise((_, lost) => (lose = lost));
    if (sent > 3) throw new RequestRefused("rate_limited", 429);
  };
  const checked = await proving(context, PROVING, [isProven], limited);
  const resend = one('[data-name="resend"]');
  assert.ok(resend.disabled);
  context.mock.timers.tick(61_000);
  assert.equal(told("status"), text("prove.soon"));
  for (let clicks = 2; clicks > 0; clicks -= 1) {
    assert.equal(resend.disabled, clicks === 1);
    resend.click();
    context.mock.timers.tick(1000);
  }
  assert.equal(sent, 2, "a second code would end the first");
  lose(new NetworkError("gone"));
  await until(() => !resend.disabled);
  context.mock.timers.tick(28_000);
  assert.equal(told("status"), text("prove.over"));
  press("resend");
  await until(() => told("status") === text("prove.resent"));
  context.mock.timers.tick(31_000);
  press("resend");
  await until(() => told("alert") === text("problem.rate_limited.later"));
  type("code", "123456");
  await until(() => visited.length > 0);
  assert.deepEqual([sent, checked], [4, ["123456"]], "a refused request leaves the code that was sent before");
});

onPage("a mail that cannot be sent is told, with another way", async (context) => {
  const refused = new RequestRefused("email_send_failed", 502);
  await proving(context, PROVING, [], async () => Promise.reject(refused));
  assert.match(told("alert"), /We could not send the code\. This try does not count\./);
  press("change");
  assert.deepEqual(visited, [["choose", { ...PROVING, attestation: undefined }]]);
});

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

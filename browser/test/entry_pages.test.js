/** The entry points of /connect and of the payment window, each in a process for itself, because they act when loaded. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const at = (path) => JSON.stringify(new URL(path, import.meta.url).href);
const ORIGIN = "https://app.example";

/** Runs a program after an empty page was made; returns what it gives to `tell`. */
async function shown(program) {
  const code = `
    import { one, press, told, until } from ${at("dom.js")};
    const tell = (value) => { console.log(JSON.stringify(value)); process.exit(); };
    globalThis.fetch = async () => Response.json({ chainId: 1 });
    ${program}
  `;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { timeout: 60_000 });
  return JSON.parse((await run).stdout);
}

test("the payment window that no shop opened says so, in the person's language", async () => {
  const seen = await shown(`
    localStorage.setItem("holdfast-language", "de");
    await import(${at("../src/pay/confirm.ts")});
    tell([document.documentElement.lang, told("heading"), one("#outcome").textContent, document.title]);
  `);
  assert.deepEqual(seen, [
    "de",
    "Nichts zu zahlen",
    "Kein Shop bittet um eine Zahlung. Sie können dieses Fenster schließen.",
    "Nichts zu zahlen – Vault of Tests",
  ]);
});

test("the payment window waits for the shop's request", async () => {
  const seen = await shown(`
    const { navigatorHas } = await import(${at("dom.js")});
    location.search = "?request=7";
    const sent = [];
    const controller = { postMessage: (message) => sent.push(message) };
    navigatorHas("serviceWorker", { controller, addEventListener() {}, startMessages() {} });
    globalThis.Worker = class { postMessage() {} terminate() {} };
    await import(${at("../src/pay/confirm.ts")});
    tell([document.documentElement.lang, told("heading"), one("#waiting").textContent, sent]);
  `);
  const ready = [{ type: "ready", request: "7" }];
  assert.deepEqual(seen, ["en", "Confirm payment", "Waiting for the shop\u2019s request…", ready]);
});

test("the window of /connect that no application opened says so above its footer", async () => {
  const seen = await shown(`
    await import(${at("../src/pages/connect.ts")});
    await until(() => one("main").dataset.screen === "no_asker");
    press("language");
    tell([document.documentElement.lang, one("h1", one("#screen")).textContent, one("#footer a").textContent]);
  `);
  assert.deepEqual(seen, ["de", "Mit einer App verbinden", "Für Entwickler"]);
});

/** What the application hears, and the screen, after it has asked for this. */
const answered = (request, more = "") =>
  shown(`
    const heard = [];
    globalThis.opener = { closed: false, postMessage: (message, to) => heard.push({ ...message, to }) };
    ${more}
    await import(${at("../src/pages/connect.ts")});
    await until(() => heard.length > 0);
    const [{ nonce }] = heard;
    const expires = Math.floor(Date.now() / 1000) + 60;
    const asked = { holdfast: "connect/1", type: "request", state: "a".repeat(32), expires, request: ${JSON.stringify(request)} };
    const says = (data, source = opener) =>
      dispatchEvent(Object.assign(new Event("message"), { data, source, origin: ${JSON.stringify(ORIGIN)} }));
    says({ ...asked, nonce: "0".repeat(32) });
    says({ ...asked, nonce }, {});
    await new Promise((resolve) => setImmediate(resolve));
    const ignored = heard.length === 1;
    says({ ...asked, nonce });
    await until(() => heard.some(({ type }) => type === "error"));
    const { to, code, message } = heard.at(-1);
    tell({ ignored, to, code, message, screen: one("main").dataset.screen, asker: one('[data-name="origin"]').textContent });
  `);

test("a request with a wrong field is refused with its name, and only the window's own nonce is heard", async () => {
  assert.deepEqual(await answered({ sign: { text: "x", challenge: "short" } }), {
    ignored: true,
    to: ORIGIN,
    code: "bad_request",
    message: "The request has a field that is missing, unknown or of another form. (sign.challenge)",
    screen: "bad_request",
    asker: ORIGIN,
  });
});

test("a service without USDC gives no permission to pay", async () => {
  const delegate = { to: "did:key:zDn", limit: "1", expires: Math.floor(Date.now() / 1000) + 3600 };
  const without = `document.querySelector('meta[name="holdfast-usdc"]').remove();`;
  const { code, message, screen } = await answered({ delegate }, without);
  const said = "This service has no USDC, so that nothing can be limited in it.";
  assert.deepEqual([code, message, screen], ["unsupported", said, "unsupported"]);
});

test("a page in a frame of another is not taken for a window of /connect", async () => {
  const seen = await shown(`
    globalThis.top = {};
    globalThis.opener = { postMessage: () => tell("asked") };
    await import(${at("../src/pages/connect.ts")});
    await until(() => one("main").dataset.screen === "framed");
    tell("framed");
  `);
  assert.equal(seen, "framed");
});

test("an answer goes to no address that the application has not declared, such as an open redirect", async () => {
  const message = { holdfast: "connect/1", type: "request", state: "a".repeat(32), request: {} };
  const seen = await shown(`
    const returnTo = "${ORIGIN}/out?to=https://evil.example/";
    location.hash = "#holdfast=" + encodeURIComponent(JSON.stringify({ ...${JSON.stringify(message)}, returnTo }));
    document.referrer = "${ORIGIN}/";
    const asked = [];
    globalThis.fetch = async (url) => (asked.push(url), Response.json({ returns: ["/"] }));
    await import(${at("../src/pages/connect.ts")});
    await until(() => one("main").dataset.screen === "return_undeclared");
    tell(asked.filter((it) => String(it).startsWith("${ORIGIN}")));
  `);
  assert.deepEqual(seen, [`${ORIGIN}/.well-known/holdfast-connect`]);
});

test("a browser that stores nothing is told what to allow, and by which application it was asked", async () => {
  const seen = await shown(`
    Object.defineProperty(localStorage, "length", { get: () => { throw new DOMException("no", "SecurityError"); } });
    const message = { holdfast: "connect/1", type: "request", state: "a".repeat(32), request: {} };
    const expires = Math.floor(Date.now() / 1000) + 60;
    location.hash = "#holdfast=" + encodeURIComponent(JSON.stringify({ ...message, expires, returnTo: "${ORIGIN}/" }));
    document.referrer = "${ORIGIN}/";
    globalThis.fetch = async () => Response.json({ returns: ["/"] });
    await import(${at("../src/pages/connect.ts")});
    await until(() => one("main").dataset.screen === "blocked");
    tell([one("#screen").textContent, told("alert"), one('[data-name="origin"]').textContent]);
  `);
  assert.match(seen[0], /Allow cookies and site data for this site/);
  assert.deepEqual(seen.slice(1), ["", ORIGIN]);
});

test("a window says that the application has the answer once it has, not while the vault is still copied", async () => {
  const seen = await shown(`
    await import(${at("scenarios/clients.js")});
    const { Client, Vault } = await import(${at("../src/holdfast.ts")});
    let copied;
    const firstCopy = () => new Promise((done) => (copied = done));
    const snapshots = async () => ({ state: async () => ({ status: "pinning", acknowledgedRoot: null }), firstCopy });
    Object.assign(Client.prototype, { boot: async () => ({}), snapshots });
    const of = { stored: [{ did: "did:new:0x1" }], status: { locked: false }, query: { did: "did:new:0x1" }, lock: {} };
    for (const [name, answer] of Object.entries(of)) Vault.prototype[name] = async () => answer;
    const [heard, state] = [[], "a".repeat(32)];
    const says = (fields) => {
      const data = { holdfast: "connect/1", state, ...fields };
      dispatchEvent(Object.assign(new Event("message"), { data, source: opener, origin: ${JSON.stringify(ORIGIN)} }));
    };
    const postMessage = (message) => {
      heard.push(message);
      if (message.type === "ping") setImmediate(says, { type: "pong" });
    };
    globalThis.opener = { closed: false, postMessage };
    globalThis.close = () => {};
    await import(${at("../src/pages/connect.ts")});
    await until(() => heard.length > 0);
    const expires = Math.floor(Date.now() / 1000) + 60;
    says({ type: "request", expires, request: {}, nonce: heard[0].nonce });
    await until(() => one("main").dataset.screen === "consent" && !one('[data-name="allow"]').ariaDisabled);
    press("allow");
    await until(() => copied);
    const before = [one("#screen").textContent, heard.at(-1).result];
    copied();
    await until(() => one("main").dataset.screen === "done");
    tell([before, [one("#screen p").textContent, heard.at(-1).result]]);
  `);
  assert.deepEqual(seen, [
    ["Connect with an app", null],
    ["app.example has your answer. You can close this window.", { did: "did:new:0x1" }],
  ]);
});

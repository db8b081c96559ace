/** The client's error classes, defaults and refusals are those of the interface's tables. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { navigatorHas } from "./dom.js";
import * as hf from "../src/holdfast.ts";

const table = (name) => JSON.parse(readFileSync(new URL(`../../interface/${name}.json`, import.meta.url), "utf8"));
const { classes } = table("client_errors");
const { types } = table("client_types");
const defaultOf = (type, field) => types[type].fields[field].default;
// The generator of P-256
const X = "0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
const Y = "0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

for (const [name, row] of Object.entries(classes))
  test(`${name} has the documented name and message`, () => {
    const given = row.message.includes("functionName") ? ["sign", "why"] : ["why"];
    const error = new hf[name](...given);
    assert.ok(error instanceof hf.ServiceError);
    assert.equal(error.name, row.name);
    assert.equal(error.message, row.message.replace("{functionName}", "sign").replace("{message}", "why"));
    for (const property of row.properties ?? []) assert.equal(error[property], "sign");
  });

test("an error keeps its cause", () => {
  const cause = new TypeError("x");
  const error = new hf.ServiceError("why", { cause });
  assert.deepEqual([error.name, error.message, error.cause], ["ServiceError", "why", cause]);
});

/** Makes the service respond with `answer`; returns the list of its requests. */
function answering(context, answer) {
  const asked = [];
  context.mock.method(globalThis, "fetch", async (url, { method = "GET" } = {}) => {
    asked.push(`${method} ${url}`);
    return answer(String(url));
  });
  return asked;
}

test("an address is asked for with the default salt, or as the application says", async (context) => {
  const asked = answering(context, () => Response.json({ address: `0x${"11".repeat(20)}` }));
  await Promise.all([{ pubKeyX: X, pubKeyY: Y }].map(hf.getSmartAccountAddress));
  await hf.getSmartAccountAddress({ pubKeyX: X, pubKeyY: Y, salt: 7n, vaultUrl: "https://other.example" });
  const path = `/api/accounts/predict?pubKeyX=${X}&pubKeyY=${Y}`;
  assert.deepEqual(asked, [`GET http://localhost:8787${path}&salt=0`, `GET https://other.example${path}&salt=7`]);

  const own = context.mock.fn(globalThis.fetch);
  const client = new hf.Client({ baseUrl: "https://vault.example", fetch: own });
  await client.getSmartAccountAddress({ pubKeyX: X, pubKeyY: Y, vaultUrl: undefined });
  assert.deepEqual([own.mock.callCount(), asked[2]], [1, `GET https://vault.example${path}&salt=0`]);
  await client.close();
  await assert.rejects(client.getAccountState({ account: `0x${"11".repeat(20)}` }), hf.ClientStateError);
});

test("no address is returned for what can be no key", async (context) => {
  const asked = answering(context, () => Response.json({ address: `0x${"11".repeat(20)}` }));
  for (const [pubKeyX, pubKeyY] of [
    ["0x1", "0x2"],
    [Y, X],
    ["0", "0"],
    [X, "0x1"],
  ])
    await assert.rejects(hf.getSmartAccountAddress({ pubKeyX, pubKeyY }), RangeError);
  assert.deepEqual(asked, []);
  await hf.getSmartAccountAddress({ pubKeyX: "x", pubKeyY: Y }); // the service refuses what is not hex
  assert.equal(asked.length, 1);
});

test("the payment handler's defaults, and why it cannot be registered", async (context) => {
  let status = 200;
  const asked = answering(context, () => new Response(null, { status }));
  const registered = [];
  const scope = defaultOf("PaymentHandlerOptions", "scope");
  const worker = { scope: `https://vault.example${scope}`, paymentManager: {} };
  navigatorHas("serviceWorker", { register: async (...given) => (registered.push(given), worker) });
  context.after(() => delete navigator.serviceWorker);
  assert.deepEqual(await hf.registerPaymentHandler(), { success: true, scope });
  assert.deepEqual(asked, ["HEAD http://localhost:8787/pay"]);
  const [[url, options]] = registered;
  assert.equal(String(url).replace("https://vault.example", ""), defaultOf("PaymentHandlerOptions", "swUrl"));
  assert.deepEqual(options, { scope, updateViaCache: "none" });
  status = 404;
  const missing = await hf.registerPaymentHandler();
  assert.deepEqual([missing.success, /404/.test(missing.error)], [false, true]);
  delete navigator.serviceWorker;
  assert.equal((await hf.registerPaymentHandler()).success, false);
});

test("the stored database has the default name", () => {
  assert.equal(new hf.VaultStore().dbName, defaultOf("VaultStoreConfig", "dbName"));
  assert.equal(defaultOf("CreatePasskeyOptions", "rpName"), "Holdfast"); // passkeys.test.js looks at what is asked
  assert.equal(defaultOf("CreatePasskeyOptions", "timeout"), 60_000);
});

for (const [what, answer, expected] of [
  [
    "a refusal",
    () => Response.json({ error: "identifier_reserved" }, { status: 409 }),
    { code: "identifier_reserved", status: 409, message: "Network: identifier_reserved (409)" },
  ],
  ["a refusal in no known form", () => new Response("", { status: 418 }), { code: "http_418", status: 418 }],
  ["an answer that is not JSON", () => new Response("<html>"), { message: "Network: the answer is not JSON" }],
])
  test(`${what} of the service is a NetworkError`, async () => {
    const client = new hf.ServiceClient({ fetch: async () => answer() });
    const asked = client.createSession({ identifier: "postmaster", channel: "handle", did: "did:new:0x11" });
    await assert.rejects(asked, { name: "NetworkError", ...expected });
  });

test("a service that is not there is a NetworkError", async () => {
  const client = new hf.ServiceClient({ baseUrl: "http://127.0.0.1:9" });
  await assert.rejects(
    client.status(),
    ({ name, message }) => name === "NetworkError" && message.startsWith("Network: "),
  );
});

test("a client that was not booted, or was closed, says so", async () => {
  const client = new hf.Client({ baseUrl: "https://service.example" });
  const refused = (word) => ({ name: "ClientStateError", message: new RegExp(word) });
  await assert.rejects(client.vault.status(), refused("boot"));
  await client.close();
  await client.close();
  await assert.rejects(client.vault.status(), refused("closed"));
  await assert.rejects(client.contracts(), refused("closed"));
});

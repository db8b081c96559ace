/** What the client asks a browser's passkeys for, and which reason each way in which a ceremony can fail has. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { navigatorHas } from "./dom.js";
import { addPasskey, registerPasskey } from "../src/flows/passkeys.ts";
import {
  NetworkError,
  RequestRefused,
  WebAuthnError,
  createPasskey,
  getDeviceCapabilities,
  keyId,
  passkeyKey,
  signalAllAcceptedCredentials,
  signalCurrentUserDetails,
  signalUnknownCredential,
  usePasskey,
} from "../src/holdfast.ts";

const bytes = (text) => new TextEncoder().encode(text).buffer;
const failing = (name) => async () => {
  throw new DOMException("the browser's words", name);
};

/** A passkey as browsers return it. */
const credential = ({ secret, algorithm = -7, transports = ["internal"] } = {}) => ({
  id: "AAAA",
  rawId: bytes("id"),
  type: "public-key",
  authenticatorAttachment: "platform",
  response: {
    clientDataJSON: bytes("{}"),
    attestationObject: bytes("object"),
    userHandle: bytes("me"),
    getPublicKeyAlgorithm: () => algorithm,
    getTransports: () => transports,
  },
  getClientExtensionResults: () => (secret ? { prf: { results: { first: secret } } } : {}),
});

/** A request that stays unanswered until it is aborted. */
const unanswered = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

let asked = [];
/** Makes the browser respond like this, and records its requests in `asked`. */
function browser({ create = async () => credential(), get = async () => credential() }) {
  asked = [];
  const noting = (answer) => (options) => (asked.push(options), answer(options));
  navigatorHas("credentials", { create: noting(create), get: noting(get) });
}

/** A test in a browser with passkeys. A hook would also run before the tests of other files. */
const inBrowser = (name, work) =>
  test(name, (context) => {
    globalThis.PublicKeyCredential = class {};
    browser({});
    context.after(() => {
      delete globalThis.PublicKeyCredential;
      navigatorHas("credentials", undefined);
    });
    return work(context);
  });

async function refused(work, reason, cause = null) {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof WebAuthnError);
    assert.deepEqual([error.reason, error.cause?.name ?? null], [reason, cause], error.message);
    return true;
  });
}

for (const [name, reason] of [
  ["InvalidStateError", "excluded"],
  ["NotSupportedError", "no_algorithm"],
  ["ConstraintError", "no_algorithm"],
  ["SecurityError", "wrong_origin"],
  ["OperationError", "busy"],
  ["NotAllowedError", "cancelled"],
  ["AbortError", "cancelled"],
  ["UnknownError", "failed"],
])
  inBrowser(`${name} of the browser means "${reason}"`, async () => {
    browser({ create: failing(name), get: failing(name) });
    await refused(createPasskey(), reason, name);
    await refused(usePasskey(), reason, name);
  });

inBrowser("time and focus tell apart what browsers report as one refusal", async (context) => {
  let [now, isFocused] = [1000, true];
  context.mock.method(performance, "now", () => now);
  context.mock.method(document, "hasFocus", () => isFocused);
  const after = (ms) => async () => ((now += ms), failing("NotAllowedError")());
  browser({ create: after(9400), get: after(9600) });
  await refused(createPasskey({ timeout: 10_000 }), "cancelled", "NotAllowedError");
  await refused(usePasskey({ timeout: 10_000 }), "timed_out", "NotAllowedError");
  isFocused = false;
  await refused(createPasskey({ timeout: 10_000 }), "no_focus", "NotAllowedError");
  browser({ get: after(10 ** 9) });
  isFocused = true;
  await refused(usePasskey({ mediation: "conditional", timeout: 5 }), "cancelled", "NotAllowedError");
});

inBrowser("what the application withdraws is aborted", async () => {
  browser({ create: unanswered });
  const ending = new AbortController();
  const waiting = createPasskey({ signal: ending.signal });
  setImmediate(() => ending.abort());
  await refused(waiting, "aborted", "AbortError");
});

inBrowser("a browser that returns nothing has failed, and one without passkeys is told so", async () => {
  browser({ create: async () => null, get: async () => null });
  await refused(createPasskey(), "failed");
  await refused(usePasskey(), "failed");
  delete globalThis.PublicKeyCredential;
  await refused(createPasskey(), "unsupported");
  const none = { webAuthnSupported: false, platformAuthAvailable: false, conditionalMediationAvailable: false };
  assert.deepEqual(await getDeviceCapabilities(), none);
});

inBrowser("algorithms that the enclave does not verify are refused", async () => {
  for (const algorithm of [-8, -257]) {
    browser({ create: async () => credential({ algorithm }) });
    await createPasskey();
  }
  await refused(createPasskey({ algorithms: [-7] }), "no_algorithm");
  browser({ create: async () => credential({ algorithm: -47 }) });
  await refused(createPasskey(), "no_algorithm");
  await refused(createPasskey({ algorithms: [-47] }), "no_algorithm");
});

inBrowser(
  "an authenticator that fails on PRF is asked once more without, within the time that is left",
  async (context) => {
    let now = 0;
    context.mock.method(performance, "now", () => now);
    browser({ create: async () => ((now += 400), asked.length === 1 ? failing("UnknownError")() : credential()) });
    await createPasskey({ timeout: 1000 });
    assert.deepEqual(
      asked.map(({ publicKey: it }) => ["prf" in it.extensions, it.timeout]),
      [
        [true, 1000],
        [false, 600],
      ],
    );
    browser({ create: async () => ((now += 2000), failing("UnknownError")()) });
    await refused(createPasskey({ timeout: 1000 }), "failed", "UnknownError");
    assert.equal(asked.length, 1);
  },
);

inBrowser("autofill waits, and gives way to a prompt", async () => {
  browser({ get: unanswered });
  const waiting = usePasskey({ mediation: "conditional" });
  setImmediate(() => void createPasskey());
  await refused(waiting, "aborted", "AbortError");
  assert.equal(asked[0].mediation, "conditional");
});

inBrowser("defaults: this host, a discoverable passkey, user verification", async () => {
  await createPasskey();
  const { rp, user, timeout, excludeCredentials, authenticatorSelection, pubKeyCredParams } = asked[0].publicKey;
  assert.deepEqual(rp, { id: "localhost", name: "Holdfast" });
  assert.deepEqual([user.name, user.displayName, user.id.length], ["Holdfast", "Holdfast", 32]);
  assert.deepEqual([timeout, excludeCredentials], [60_000, []]);
  assert.deepEqual(authenticatorSelection, {
    residentKey: "required",
    requireResidentKey: true,
    userVerification: "required",
  });
  assert.deepEqual(
    pubKeyCredParams.map(({ alg }) => alg),
    [-7, -8, -257],
  );
  await usePasskey({ credentialIds: ["AQID"], hints: ["hybrid"] });
  const { publicKey, mediation } = asked[1];
  const { rpId, userVerification, allowCredentials, hints } = publicKey;
  assert.deepEqual([rpId, userVerification, mediation, hints], ["localhost", "required", "optional", ["hybrid"]]);
  assert.deepEqual([...allowCredentials[0].id], [1, 2, 3]);
});

inBrowser("the secret opens the vault once, and is in nothing that leaves the browser", async () => {
  const secret = new Uint8Array(32).fill(7);
  const withSecret = async () => credential({ secret: secret.slice() });
  browser({ create: withSecret, get: withSecret });
  assert.deepEqual(JSON.parse(atob((await createPasskey()).credential)).clientExtensionResults, {});
  const used = await usePasskey();
  assert.deepEqual([used.hasKey, used.userHandle, used.attachment], [true, "bWU", "platform"]);
  const { clientExtensionResults, response } = JSON.parse(atob(used.assertion));
  assert.deepEqual([clientExtensionResults, response.transports], [{}, ["internal"]]);
  const key = await passkeyKey(used);
  assert.deepEqual([key.kind, key.id, new Uint8Array(key.secret)], ["prf", "AAAA", secret]);
  await passkeyKey(used); // once more only after another prompt
  assert.equal(asked.length, 3);
});

inBrowser("a passkey whose secret is missing or of another length opens no vault", async () => {
  const made = await createPasskey();
  assert.deepEqual(Object.keys(made), ["credential", "credentialId"]);
  for (const secret of [undefined, new Uint8Array(31)]) {
    browser({ get: async () => credential({ secret }) });
    await refused(passkeyKey(made), "no_prf");
    assert.equal(asked.length, 1);
  }
});

for (const error of [new NetworkError("no answer"), new RequestRefused("credential_limit_reached", 429)])
  inBrowser(`a new passkey opens the vault although it is not registered: ${error.message}`, async () => {
    const [opening, names] = [[], []];
    browser({ create: async () => credential({ secret: new Uint8Array(32).fill(7) }) });
    const vault = {
      query: async () => ({ did: "ours", credentials: [{ credential_id: "BAUG" }, { credential_id: "AQID" }] }),
      parse: async () => ({ parsed: {} }),
      exec: async () => ({ success: true }),
      addKey: async ({ id }) => void opening.push(id),
      invoke: async () => ({ container: "C" }),
    };
    const client = {
      ...{ vault, createPasskey, rpId: "localhost", baseUrl: "http://localhost" },
      // A stranger has registered the vault's other credential ID.
      lookupDid: async ({ credentialId: id }) =>
        id === "AQID"
          ? { found: true, channel: "handle", did: "ours", identifier: "ada" }
          : { found: true, channel: "handle", did: "stranger's", identifier: "eve" },
      registerDid: ({ identifier }) => (names.push(identifier), Promise.reject(error)),
    };
    const { credentialId, registered } = await addPasskey(client, {});
    assert.deepEqual([opening, credentialId, registered], [["AAAA"], "AAAA", false]);
    await assert.rejects(registerPasskey(client, credentialId), error);
    assert.deepEqual(names, ["ada", "ada"]);
  });

for (const [failing, effects] of [
  ["create", ["create"]],
  ["add_key", ["create", "add_key", "delete"]],
])
  inBrowser(`a new passkey that the vault cannot keep neither opens it nor is listed: ${failing}`, async () => {
    browser({ create: async () => credential({ secret: new Uint8Array(32).fill(7) }) });
    const done = [];
    const step = async (name) => {
      done.push(name);
      if (name === failing) throw new NetworkError(name);
      return { success: true };
    };
    const vault = {
      query: async () => ({ credentials: [] }),
      parse: async () => ({ parsed: {} }),
      exec: (filter) => step(filter.split("action:")[1]),
      addKey: () => step("add_key"),
    };
    await assert.rejects(addPasskey({ vault, createPasskey, rpId: "localhost" }, {}), NetworkError);
    assert.deepEqual(done, effects);
  });

inBrowser("a long credential ID has a short name in the vault", async () => {
  assert.equal(await keyId("A".repeat(128)), "A".repeat(128));
  const digest = createHash("sha256").update(Buffer.alloc(150)).digest("base64url");
  assert.equal(await keyId("A".repeat(200)), `sha256:${digest}`);
});

inBrowser("what the browser can is told, and signals reach a browser that knows them", async () => {
  const can = { webAuthnSupported: true, platformAuthAvailable: false, conditionalMediationAvailable: true };
  PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable = failing("UnknownError");
  PublicKeyCredential.isConditionalMediationAvailable = async () => true;
  assert.deepEqual(await getDeviceCapabilities(), can);
  assert.equal(await signalUnknownCredential("AAAA"), false);
  const heard = [];
  for (const name of ["signalUnknownCredential", "signalCurrentUserDetails", "signalAllAcceptedCredentials"])
    PublicKeyCredential[name] = async (details) => void heard.push(details);
  assert.equal(await signalUnknownCredential("AAAA"), true);
  await signalCurrentUserDetails({ userId: "u", name: "new", displayName: "New" });
  await signalAllAcceptedCredentials({ userId: "u", allAcceptedCredentialIds: [] });
  const [rpId, userId] = ["localhost", "u"];
  assert.deepEqual(heard, [
    { rpId, credentialId: "AAAA" },
    { rpId, userId, name: "new", displayName: "New" },
    { rpId, userId, allAcceptedCredentialIds: [] },
  ]);
});

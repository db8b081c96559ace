/** For any response, the client returns a result of the documented form or throws NetworkError (vectors/service/answers.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { ServiceClient } from "../src/holdfast.ts";
import { vectors } from "./vector_files.js";

const ADDRESS = `0x${"11".repeat(20)}`;
const FILE = JSON.parse(JSON.stringify(vectors("service/answers.json")).replaceAll("$address", ADDRESS));
const CALLS = {
  contracts: (client) => client.contracts(),
  status: (client) => client.status(),
  chains: (client) => client.chains(),
  predict: (client) => client.predictAddress({}),
  state: (client) => client.accountStateOn(8453, { account: ADDRESS }),
  lookup: (client) => client.lookupDid({ credentialId: "c" }),
  alias: (client) => client.checkAlias({ alias: "ada" }),
  availability: (client) => client.checkSession({ identifier: "ada" }),
  "check code": (client) => client.checkCode({}),
  "recovery terms": (client) => client.recoveryTerms(),
  recovery: (client) => client.signRecovery({}),
  "indexed did": (client) => client.indexerDid("0x"),
  "indexed account": (client) => client.indexerAccount("0x"),
  "indexed accounts": (client) => client.indexerAccounts(),
  "indexed events": (client) => client.indexerEvents(),
};
const asked = (call, body) =>
  CALLS[call](new ServiceClient({ baseUrl: "https://service.example", fetch: async () => Response.json(body) }));

for (const [call, more] of [...Object.keys(CALLS).map((call) => [call, {}]), ...FILE.as_documented])
  test(`${call} in the documented form: ${JSON.stringify(more)}`, async () => {
    const body = { ...FILE.answers[call], ...more };
    assert.deepEqual(await asked(call, body), body);
  });

const OTHERS = Object.keys(CALLS).flatMap((call) => [null, [], "text", 7, {}, [{}]].map((body) => [call, body]));
for (const [call, body] of [
  ...FILE.otherwise.map(([call, more]) => [call, { ...FILE.answers[call], ...more }]),
  ...OTHERS,
])
  test(`${call} in another form: ${JSON.stringify(body)}`, async (context) => {
    context.mock.method(globalThis, "setTimeout", (work) => queueMicrotask(work)); // between the attempts
    const message = /^Network: \/.* did not answer in the documented form$/;
    await assert.rejects(asked(call, body), { name: "NetworkError", message });
  });

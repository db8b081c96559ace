/** Which changes of guardians need the person's consent, by the vectors that all clients share; and the drill of a recovery. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { givesServiceAlone, triedRecovery } from "../src/account/guardians.ts";
import { vectors } from "./vector_files.js";

for (const { name, changes, alone, ...before } of vectors("accounts/service_alone.json").vectors)
  test(`consent: ${name}`, () => assert.equal(givesServiceAlone(before, changes), alone));

const QUORUM = `0x8994b0bf${"0".repeat(64)}${"2".padStart(64, "0")}`; // NoQuorum(0, 2)
for (const [data, expected] of [
  [QUORUM, 2],
  ["0x8baa579f", null],
])
  test(`the drill of a recovery only asks the chain: ${data.slice(0, 10)}`, async (context) => {
    const asked = [];
    context.mock.method(globalThis, "fetch", async (_, { body }) => {
      const { id, method } = JSON.parse(body);
      asked.push(method);
      return Response.json({ jsonrpc: "2.0", id, error: { code: 3, message: "execution reverted", data } });
    });
    const account = { url: "http://127.0.0.1:1/rpc", address: `0x${"aa".repeat(20)}` };
    assert.equal(await triedRecovery(account, [`0x${"01".repeat(64)}`]), expected);
    assert.deepEqual(asked, ["eth_call"]);
  });

test("a chain that does not answer the drill has not refused", async (context) => {
  context.mock.method(globalThis, "fetch", async () => new Response("<html>"));
  await assert.rejects(triedRecovery({ url: "http://127.0.0.1:1", address: "0x1" }, []), { name: "NetworkError" });
});

/** What is sent to the hosts of snapshots for whom, and which of their answers count. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { SnapshotHosts } from "../src/snapshots/hosts.ts";

const ROOT = "bafyreiahvls5g7zh5yl2aja4b7xj5nhs4x3uu6ye2zbkoa74t4iorfmigq";
const OTHER = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku";
const line = (cid) => `${JSON.stringify({ Root: { Cid: { "/": cid } } })}\n`;
const uploaded = (answer) => {
  const service = { mint: async () => "token", fetch: async () => new Response(answer) };
  return new SnapshotHosts("https://service.example", {}, service).upload({ rootCid: ROOT, blocks: [] });
};

test("the root's line acknowledges the upload", async () => {
  await assert.doesNotReject(uploaded(line(ROOT)));
});

for (const answer of ["<html>Welcome to the hotel", `${line(ROOT)}{`, '{"Root":7}', line(OTHER)])
  test(`not acknowledged: ${answer}`, async () => {
    await assert.rejects(uploaded(answer), { name: "StorageError" });
  });

const asked = [];
const hostsOf = (config, answer) =>
  new SnapshotHosts("https://service.example", config, {
    mint: async (audience) => (asked.push(audience), "token"),
    fetch: async () => answer,
  });

for (const [config, audience] of [
  [{}, "did:web:service.example"],
  [{ uploadUrl: "https://other.example" }, "did:web:other.example"],
  [{ uploadUrl: "https://other.example", serviceDid: "did:web:named.example" }, "did:web:named.example"],
])
  test(`the token of an upload is for ${audience}`, async () => {
    await hostsOf(config, new Response(line(ROOT))).upload({ rootCid: ROOT, blocks: [] });
    assert.equal(asked.pop(), audience);
  });

test("another pinning service gets no token for the service", async () => {
  await hostsOf({ pinningUrl: "https://pins.example" }, Response.json({ results: [] })).pinning.list();
  assert.equal(asked.pop(), "did:web:pins.example");
});

for (const [answer, name] of [
  [Response.json({ name: "k51" }), "k51"],
  [Response.json({ name: 7 }), null],
  [Response.json({ error: "not_found" }, { status: 404 }), null],
])
  test(`the name that a service knows for a passkey: ${name} of ${answer.status}`, async () => {
    assert.equal(await hostsOf({}, answer).nameOf("credential"), name);
  });

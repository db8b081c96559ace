/** What is sent to the hosts of snapshots for whom, and which of their answers count. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { SnapshotHosts } from "../src/snapshots/hosts.ts";
import { vectors } from "./vector_files.js";

const { root: ROOT, cases } = vectors("service/uploads.json");
const LINE = cases[0].answer;
const uploaded = (answer, config) => {
  const service = { mint: async () => "token", fetch: async () => new Response(answer) };
  return new SnapshotHosts("https://service.example", config, service).upload({ rootCid: ROOT, blocks: [] });
};

for (const { name, answer, if_it_pins: alone, if_another_pins: elsewhere } of cases)
  test(`an upload is answered with ${name}`, async () => {
    for (const [config, isEnough] of [
      [{ pinningUrl: "" }, alone],
      [{}, elsewhere],
    ])
      if (isEnough) await uploaded(answer, config);
      else await assert.rejects(uploaded(answer, config), { name: "StorageError" });
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
    await hostsOf(config, new Response(LINE)).upload({ rootCid: ROOT, blocks: [] });
    assert.equal(asked.pop(), audience);
  });

for (const serviceDid of [undefined, "did:web:named.example"])
  test(`another pinning service gets no token for the service ${serviceDid}`, async () => {
    const config = { pinningUrl: "https://pins.example", serviceDid };
    await hostsOf(config, Response.json({ results: [] })).pinning.list();
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

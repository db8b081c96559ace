/** An upload reports every answer that acknowledges nothing as a StorageError. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { SnapshotHosts } from "../src/snapshots/hosts.js";

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

/** A service that names an address of the person's own network is not followed (vectors/service/named_endpoints.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { endpointNamed } from "../src/chain/rpc.ts";
import { vectors } from "./vector_files.js";

const { used, refused } = vectors("service/named_endpoints.json");

for (const { named, service } of used)
  test(`${service} may name ${named}`, () => {
    assert.equal(endpointNamed(named, service), named);
  });
for (const { named, service } of refused)
  test(`${service} may not name ${named || "nothing"}`, () => {
    assert.equal(endpointNamed(named, service), "");
  });

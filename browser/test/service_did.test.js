/** The did:web of services' addresses (vectors/service/did_web.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { didOfService } from "../src/flows/signature.ts";
import { vectors } from "./vector_files.js";

for (const [address, did] of vectors("service/did_web.json").cases)
  test(`the DID of ${address}`, () => {
    assert.equal(didOfService(address), did);
  });

/** What owners other than vaults sign on the exit page is the operation as the published entry points hash it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { operationHash } from "../src/exit/address.ts";
import { vectors } from "./vector_files.js";

for (const version of ["v07", "v08", "v09"]) {
  const { entryPoint, chainId, vectors: all } = vectors(`user_operations/${version}.json`);
  const unpaid = all.filter(({ userOp: { paymaster, factory } }) => !paymaster && !/^0x7702/.test(factory ?? ""));
  test(`${version}: ${unpaid.length} operations`, () => {
    assert.ok(unpaid.length > 2);
    const of = { chainId, entryPoint };
    for (const { name, userOp, userOpHash } of unpaid) assert.equal(operationHash(userOp, of), userOpHash, name);
  });
}

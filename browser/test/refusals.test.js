/** The payment window says "nothing was paid" about a failed operation only if that is certain. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { OperationFailed } from "../src/holdfast.ts";
import { refusalOf } from "../src/pay/refusals.ts";

const CASES = [
  ["refused: the account has no funds", false, "chain_rejected"],
  ["refused: the account has no funds", "perhaps", "chain_rejected"],
  ["refused: too many questions for receipts", "surely", "unconfirmed"],
  ["no receipt in time", "perhaps", "unconfirmed"],
  ["the operation was mined and failed", "surely", "chain_failed"],
  ["an earlier operation with the same call has been mined", false, "unconfirmed", "mined"],
  ["an earlier operation may have been mined", false, "unconfirmed", "unknown"],
  ["refused: AA25 invalid account nonce", false, "chain_rejected"],
  ["refused: AA25 invalid account nonce", "perhaps", "unconfirmed"],
];

for (const [message, handedOver, code, earlier = ""] of CASES)
  test(`${message}, handed over: ${handedOver}`, () => {
    const error = Object.assign(new OperationFailed(message), { earlier });
    assert.equal(refusalOf(error, handedOver).code, code);
  });

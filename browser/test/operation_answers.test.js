/** What a sponsor and a bundler answer about an operation (vectors/service/operation_answers.json). */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { Bundler, EMPTY_OPERATION } from "../src/chain/bundler.ts";
import { OperationFailed, isStale, lacksMoney } from "../src/chain/errors.ts";
import { vectors } from "./vector_files.js";

const { sponsor, receipts, refusals } = vectors("service/operation_answers.json");
const OPERATION = { ...EMPTY_OPERATION, sender: `0x${"11".repeat(20)}`, nonce: "0x1", callData: "0x" };
const REFUSED = { name: "OperationFailed", message: "the sponsor named no paymaster" };
const bundlerOf = (usual, { answer, more }) =>
  new Bundler({ bundler: async () => (more === undefined ? answer : { ...usual, ...more }) }, "0x");

for (const row of sponsor.cases)
  test(`a sponsor's answer: ${row.name}`, async () => {
    const asked = bundlerOf(sponsor.answer, row).sponsored(OPERATION);
    if (row.outcome !== "sponsored")
      return assert.rejects(asked, row.outcome === "refused" ? REFUSED : { name: "NetworkError" });
    const { sender, nonce, callData, callGasLimit, paymaster } = await asked;
    assert.deepEqual({ sender, nonce, callData }, { sender: OPERATION.sender, nonce: "0x1", callData: "0x" });
    assert.deepEqual([Number(callGasLimit), paymaster], [16, sponsor.answer.paymaster]);
  });

for (const row of receipts.cases)
  test(`a receipt: ${row.name}`, async () => {
    const found = bundlerOf(receipts.answer, row).receipt(receipts.answer.userOpHash);
    if (row.outcome === "unusable") return assert.rejects(found, { name: "NetworkError" });
    const why = row.reason ? `: ${row.reason}` : "";
    if (row.outcome === "failed")
      return assert.rejects(found, { name: "OperationFailed", message: `the operation was mined and failed${why}` });
    const { transactionHash, blockNumber } = receipts.answer.receipt;
    const mined = row.outcome === "mined" ? { transactionHash, blockNumber: Number(blockNumber) } : null;
    assert.deepEqual(await found, mined);
  });

for (const { message, stale, no_money: noMoney } of refusals)
  test(`why an operation was refused: ${message}`, () => {
    const error = new OperationFailed(message);
    assert.deepEqual([isStale(error), lacksMoney(error)], [stale, noMoney]);
  });

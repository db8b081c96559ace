/** A spending permission, its calls, and its delegation's policy are those of the shared vectors. */

import assert from "node:assert/strict";
import { test } from "node:test";

import "./dom.js";
import { AccountSpending } from "../src/account/spending.ts";
import * as permissions from "../src/chain/permissions.ts";
import { toHex, fromHex } from "../src/bytes.ts";
import { keccak256 } from "../src/did/keccak.ts";
import { vectors } from "./vector_files.js";

const { vectors: ROWS, none: NONE } = vectors("accounts/permissions.json");
const given = ({ permission: it }) => ({ ...it, allowance: BigInt(it.allowance), salt: BigInt(it.salt) });

for (const row of ROWS)
  test(row.name, () => {
    const [it, { account, chainId }] = [given(row), row];
    assert.equal(toHex(keccak256(fromHex(permissions.wordsOf(it)))), row.id);
    const calls = {
      grant: permissions.grantPermission(account, it),
      revoke: permissions.revokePermission(account, row.id),
      spend: permissions.spend(account, it, row.to, 1n),
    };
    for (const [name, call] of Object.entries(calls)) assert.deepEqual(call, { to: account, data: row[name] });
    const lower = { ...it, token: it.token.toLowerCase(), target: it.target.toLowerCase() };
    assert.deepEqual(permissions.grantedBy(calls.grant), lower);
    assert.equal(permissions.grantedBy(calls.spend), null);
    const payment = { to: row.to.toLowerCase(), amount: 1n, token: permissions.tokenOf(lower) };
    assert.deepEqual(permissions.spentBy(row.spend), payment);
    for (const other of [row.grant, `${row.spend}00`, row.spend.replace(/.$/, "1")])
      assert.equal(permissions.spentBy(other), null);
    const spending = { account, chainId, permissionId: row.id };
    assert.deepEqual(permissions.policyOf(spending, it), row.policy);
    assert.deepEqual(permissions.spendingIn(row.policy), spending);
  });

for (const [name, at, statement] of NONE)
  test(`a policy that names no permission stands for none: ${name}`, () =>
    assert.equal(permissions.spendingIn(ROWS[0].policy.toSpliced(at, 1, ...(statement ? [statement] : []))), null));

test("a delegation without a policy names no permission", () => assert.equal(permissions.spendingIn(undefined), null));

test("the spender is the key of the app's DID", () => {
  const terms = { token: "native", allowance: 5n, payee: `0x${"aa".repeat(20)}` };
  const made = permissions.permissionOf({ ...terms, to: `did:new:0x${"11".repeat(32)}` }, 7, 9n);
  assert.deepEqual([made.keyId, permissions.tokenOf(made)], [`0x${"11".repeat(32)}`, "native"]);
  assert.deepEqual([permissions.payeeIn(made), made.start, made.salt], [terms.payee, 7, 9n]);
  assert.throws(() => permissions.permissionOf({ ...terms, to: "did:key:zDn" }, 7, 9n), TypeError);
});

for (const wrong of [
  ...[-1n, 1n << 160n].map((allowance) => ({ allowance })),
  ...["period", "until"].flatMap((name) => [-1, 2 ** 48].map((value) => ({ [name]: value }))),
])
  test(`terms out of range are refused: ${Object.entries(wrong)}`, () => {
    const terms = { token: "native", allowance: 5n, to: `did:new:0x${"11".repeat(32)}`, ...wrong };
    assert.throws(() => permissions.permissionOf(terms, 7, 9n), { name: "TypeError", message: /range/ });
  });

for (const [to, amount] of [
  ["", 1n],
  ["0x12", 1n],
  ["ada", 1n],
  [`0x${"11".repeat(20)}`, -1n],
  [`0x${"11".repeat(20)}`, 1n << 256n],
])
  test(`spending ${amount} to "${to}" is refused before anything is asked`, async () => {
    const vault = { keccak256: async (data) => toHex(keccak256(data)) };
    const spending = new AccountSpending({ vault }, (work) => work());
    await assert.rejects(spending.spend("container", { to, amount }), { name: "TypeError", message: /address|amount/ });
  });

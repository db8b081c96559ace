/** Calls for owners and recoveries are those of the shared vectors, and changes are read from them as they were written. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  applyChanges,
  cancelRecovery,
  changesIn,
  createAccountWith,
  finishRecovery,
  kindOf,
  startRecovery,
  withPrimary,
} from "../src/account/changes.ts";
import { ofChanges, signaturesIn } from "../src/chain/owners.ts";
import { vectors } from "./vector_files.js";

const ACCOUNT = `0x${"aa".repeat(20)}`;
const signed = (it, sequence) => ({ account: ACCOUNT, sequence, changes: it.changes, signature: it.signature });
const CALLS = {
  apply: (row) => applyChanges(signed(row, row.sequence)),
  create: ({ x, y, salt, history }) =>
    createAccountWith(ACCOUNT, { x: BigInt(x), y: BigInt(y), salt: BigInt(salt) }, history.map(signed)),
  start: (row) => startRecovery(ACCOUNT, row.new_owners, row.signature),
  finish: (row) => finishRecovery(ACCOUNT, row.new_owners),
  cancel: (row) => cancelRecovery(ACCOUNT, row.signature),
};
/** Without the zeros that may be left out. */
const plain = (change) => Object.fromEntries(Object.entries(change).filter(([, value]) => value !== 0));
const read = (data) => changesIn(ACCOUNT, data).map((it) => ({ ...it, changes: it.changes.map(plain) }));

for (const row of vectors("accounts/calls.json").vectors)
  test(row.name, () => {
    const { to, data } = CALLS[row.call](row);
    assert.equal(to, ACCOUNT);
    assert.equal(data, row.data);
    const written = row.changes ? [signed(row, row.sequence)] : (row.history ?? []).map(signed);
    assert.deepEqual(read(`0xffff${data.slice(2)}00`), written);
  });

test("what is cut off or no change of our clients is not read", () => {
  const { data } = CALLS.apply(vectors("accounts/calls.json").vectors[0]);
  for (const length of [10, 74, 300, data.length - 70]) assert.deepEqual(read(data.slice(0, length)), []);
  const unknown = applyChanges({ account: ACCOUNT, sequence: 0, changes: [{ kind: "add_owner" }], signature: "0x" });
  assert.deepEqual(read(unknown.data), []);
});

test("changes are read however values are padded, as the contract does", () => {
  const row = { ...vectors("accounts/calls.json").vectors[0], signature: `0x${"5a".repeat(65)}` };
  const { data } = CALLS.apply(row);
  const [padded, cut, short] = [data.slice(0, -62) + "01".repeat(31), data.slice(0, -62), data.slice(0, -64)];
  assert.deepEqual(
    [data, padded, cut, short].map((it) => read(it).length),
    [1, 1, 1, 0],
  );
});

test("signatures by name are taken apart", () => {
  for (const { named, signatures } of vectors("accounts/named_signatures.json").vectors)
    assert.deepEqual(new Set(signaturesIn(named).map((it) => it.signer)), new Set(signatures.map((it) => it.signer)));
  assert.throws(() => signaturesIn(`0x${"ab".repeat(64)}`), { name: "TypeError", message: /one signature suffices/ });
  for (const { name, whole } of vectors("accounts/named_signatures.json").malformed)
    assert.throws(() => signaturesIn(whole), { name: "TypeError", message: /is malformed/ }, name);
});

const { signer, signature, vectors: forms } = vectors("accounts/change_signatures.json");
for (const { name, whole, ...of } of forms)
  test(`a signature of changes: ${name}`, () =>
    assert.equal(ofChanges({ signer, signature, keyId: "0x01" }, of), whole));

const [FIRST, SECOND, THIRD] = ["01", "02", "03"].map((byte) => `0x${byte.repeat(64)}`);
const WALLET = `0x${"04".repeat(20)}`;
const owner = (signer, expiry = 0) => ({ signer, expiry, isPrimary: signer === FIRST });
const gone = [{ kind: "remove_owner", signer: FIRST }];

test("without the primary key, the oldest P-256 key that lasts is primary", () => {
  const owners = [owner(FIRST), owner(WALLET), owner(SECOND, 5), owner(THIRD)];
  assert.deepEqual(withPrimary(owners, gone), [...gone, { kind: "set_primary", signer: THIRD }]);
  assert.deepEqual(withPrimary([owner(FIRST), owner(WALLET)], gone), gone);
  const added = [{ kind: "add_owner", signer: SECOND }, ...gone];
  assert.deepEqual(withPrimary([owner(FIRST)], added), [...added, { kind: "set_primary", signer: SECOND }]);
  const other = [{ kind: "remove_owner", signer: THIRD }];
  assert.deepEqual(withPrimary(owners, other), other);
});

test("kinds of signers", () => {
  assert.deepEqual(
    [40, 42, 128, 130].map((digits) => kindOf(`0x${"1".repeat(digits)}`)),
    ["address", "verifier", "p256", "verifier"],
  );
  for (const wrong of ["", "0x", `0x${"1".repeat(38)}`, "1".repeat(40), `0x${"1".repeat(2050)}`])
    assert.throws(() => kindOf(wrong), TypeError);
});

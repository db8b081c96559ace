/** Puts the vault's copy at a service to which the person moves, and reads it back from there. */

import { isSame } from "../bytes.js";
import { pinRequested } from "./hosts.js";
import { ClientStateError, MoveRefused } from "../errors.js";
import { PIN_NAME, metaOf, signedRecord } from "./publisher.js";
import { snapshotOf } from "./roots.js";
import { openedBeside } from "./versions.js";
import { pinnedState, readState, recordNote, writeState } from "./state.js";

/**
 * @import {VaultStore} from "../vault/store.js"
 * @import {Vault} from "../vault/vault.js"
 * @import {SnapshotHosts} from "./hosts.js"
 * @import {Snapshot} from "./roots.js"
 * @typedef {{snapshot: Snapshot, record: Uint8Array<ArrayBuffer>, sequence: number, stored: import("./publisher.js").Stored}} Copy
 */

/**
 * Uploads the newest revision and publishes it under the vault's name. What the store notes about snapshots stays about
 * the previous service.
 * @param {Vault} vault @param {VaultStore} store @param {SnapshotHosts} hosts @returns {Promise<Copy>}
 */
export async function copyTo(vault, store, hosts) {
  const { did } = await vault.status();
  const stored = did ? await store.load(did) : null;
  if (!did || !stored) throw new ClientStateError("no vault is stored here");
  const state = await readState(store, did);
  const { signed_dag_cbor: signed } = await vault.publishingDelegation();
  const manifest = { ...stored.manifest, rootCid: state.acknowledgedRoot, delegation: Uint8Array.from(signed) };
  const snapshot = await snapshotOf(manifest, stored.sealed);
  const isPinned = await pinRequested(hosts, snapshot, PIN_NAME, metaOf(did));
  await isPinned();
  const { name } = await vault.publishingKey();
  const there = await hosts.gateways.record(name);
  // Higher than both services' records, so that neither can pass an older copy off as the newest one.
  const sequence = Math.max(state.sequence, there?.sequence ?? 0) + 1;
  const record = await signedRecord(vault, snapshot.rootCid, sequence);
  await hosts.publish(name, record);
  return { snapshot, record, sequence, stored };
}

/**
 * Checks that the service returns the copy, and that the new passkey opens it.
 * @param {Vault} vault @param {SnapshotHosts} hosts @param {Copy} copy @param {import("../holdfast.js").VaultKey} key
 */
export async function readBack(vault, hosts, { snapshot, record }, key) {
  const { name } = await vault.publishingKey();
  const found = await hosts.gateways.record(name);
  if (!found || !isSame(found.data, record))
    throw new MoveRefused("other_copy", "the new service does not return the copy's name as it was published");
  const copy = await hosts.gateways.snapshot(snapshot.rootCid);
  if (!isSame(copy.sealed, snapshot.sealed))
    throw new MoveRefused("other_copy", "the new service does not return the vault as it was uploaded");
  await openedBeside(vault, copy, key, async () => {});
}

/**
 * Notes that from now on the vault's snapshots are those of the new service.
 * @param {VaultStore} store @param {Copy} copy
 */
export async function continueHere(store, { snapshot, record, sequence, stored }) {
  await store.setNote(recordNote(snapshot.manifest.did), record);
  await writeState(store, pinnedState(snapshot, stored.revision, sequence));
  await store.updateManifest({ ...stored.manifest, rootCid: snapshot.rootCid }, stored.sealed);
}

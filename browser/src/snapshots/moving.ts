/** Puts the vault's copy at a service to which the person moves, and reads it back from there. */

import { isSame } from "../bytes.ts";
import type { VaultKey } from "../passkeys/secrets.ts";
import type { VaultStore } from "../vault/store.ts";
import type { Vault } from "../vault/vault.ts";
import { pinRequested, type SnapshotHosts } from "./hosts.ts";
import { ClientStateError, MoveRefused } from "../errors.ts";
import { metaOf, PIN_NAME, signedRecord, snapshotAfter, type Stored } from "./publisher.ts";
import type { Snapshot } from "./roots.ts";
import { openedBeside } from "./versions.ts";
import { pinnedState, readState, recordNote, writeState } from "./state.ts";

type Published = { name: string; record: Uint8Array<ArrayBuffer>; sequence: number; service: string };
export type Copy = Published & { snapshot: Snapshot; stored: Stored };

/**
 * Uploads the newest revision and publishes it under the vault's name. What the store notes about snapshots stays about
 * the previous service.
 */
export async function copyTo(vault: Vault, store: VaultStore, hosts: SnapshotHosts): Promise<Copy> {
  const { did } = await vault.status();
  const stored = did ? await store.load(did) : null;
  if (!did || !stored) throw new ClientStateError("no vault is stored here");
  const state = await readState(store, did);
  const { signed_dag_cbor: signed } = await vault.publishingDelegation();
  const snapshot = await snapshotAfter(state.acknowledgedRoot, stored, Uint8Array.from(signed));
  const isPinned = await pinRequested(hosts, snapshot, PIN_NAME, metaOf(did));
  await isPinned();
  const { name } = await vault.publishingKey();
  const there = await hosts.gateways.record(name);
  // Higher than both services' records, so that neither can pass an older copy off as the newest one.
  const sequence = Math.max(state.sequence, there?.sequence ?? 0) + 1;
  const record = await signedRecord(vault, snapshot.rootCid, sequence);
  await hosts.publish(name, record);
  return { name, snapshot, record, sequence, stored, service: hosts.service };
}

/** Checks that the service returns the copy, and that the new passkey opens it. */
export async function readBack(vault: Vault, hosts: SnapshotHosts, { name, snapshot, record }: Copy, key: VaultKey) {
  const found = await hosts.gateways.record(name);
  if (!found || !isSame(found.data, record))
    throw new MoveRefused("other_copy", "the new service does not return the copy's name as it was published");
  const copy = await hosts.gateways.snapshot(snapshot.rootCid);
  if (!isSame(copy.sealed, snapshot.sealed))
    throw new MoveRefused("other_copy", "the new service does not return the vault as it was uploaded");
  await openedBeside(vault, copy, key, async () => {});
}

/** Notes that from now on the vault's snapshots are those of the new service. */
export async function continueHere(store: VaultStore, { snapshot, record, sequence, stored, service }: Copy) {
  await store.setNote(recordNote(snapshot.manifest.did), record);
  await writeState(store, pinnedState(snapshot, stored.revision, sequence, service));
  await store.updateManifest({ ...stored.manifest, rootCid: snapshot.rootCid }, stored.sealed);
}

import { isSame } from "../../src/bytes.ts";
import { StorageError } from "../../src/errors.ts";
import { ofDeleted } from "../../src/vault/store.ts";

/** A vault's store in memory, with the methods of VaultStore that the flows call. */
export class MemoryStore {
  rows = new Map();
  notes = new Map();

  async close() {}

  async load(did) {
    return this.rows.get(did) ?? null;
  }

  async save(manifest, bytes, revision, { forgetOlder = false } = {}) {
    const last = this.rows.get(manifest.did)?.revision ?? 0;
    if (revision <= last) throw new StorageError(`revision ${revision} is not newer than the stored ${last}`);
    this.rows.set(manifest.did, { did: manifest.did, revision, manifest, sealed: bytes });
    if (forgetOlder) this.notes.set(`snapshots:forgotten:${manifest.did}`, revision);
  }

  async delete(did) {
    this.rows.delete(did);
    const published = this.notes.get(`snapshots:${did}`);
    if (published) this.notes.set(`snapshots:${did}`, ofDeleted(published));
  }

  async updateManifest(manifest, sealed) {
    const row = this.rows.get(manifest.did);
    if (row && isSame(row.sealed, sealed)) this.rows.set(manifest.did, { ...row, manifest });
  }

  async note(name) {
    return structuredClone(this.notes.get(name) ?? null);
  }

  async setNote(name, value) {
    if (value === null) this.notes.delete(name);
    else this.notes.set(name, structuredClone(value));
  }

  async changeNote(name, change) {
    this.notes.set(name, structuredClone(change(this.notes.get(name) ?? null)));
  }

  async replaceNotes(changes) {
    const same = Object.entries(changes).every(([name, [expected]]) => (this.notes.get(name) ?? null) === expected);
    if (same) Object.entries(changes).forEach(([name, [, value]]) => this.notes.set(name, value));
    return same;
  }
}

/**
 * Checks that a snapshot belongs to its DID, using the sealed vault's header and the delegation to the publishing key.
 */

import { readHeader } from "../vault/sealed_header.js";
import { RecoveryRefused } from "./errors.js";
import { PluginCallError } from "../errors.js";
import { didKeyOf } from "./names.js";

const PUBLISH = "/snapshots/publish";

/**
 * Checks that the root and the sealed vault contain the same DID.
 * @param {import("./roots.js").Snapshot} snapshot @returns {{did: string, revision: number}}
 * @throws {RecoveryRefused} `damaged`
 */
export function checkWhole({ sealed, manifest }) {
  const header = readHeader(sealed);
  if (!header) throw new RecoveryRefused("damaged", "the snapshot holds no sealed vault");
  if (header.did !== manifest.did)
    throw new RecoveryRefused("damaged", "the snapshot names another DID than the vault in it");
  return header;
}

/**
 * Checks that the vault's key has authorised the publishing key to publish its snapshots. If `publicKey` is null, any
 * publishing key is accepted. A did:new is the hash of its key, so the delegation is verified without asking a service.
 * @param {import("../vault/vault.js").Vault} vault its enclave verifies the delegation; the vault need not be open
 * @param {import("./roots.js").Snapshot} snapshot @param {Uint8Array | null} publicKey
 * @throws {RecoveryRefused} `damaged`
 */
export async function checkBinding(vault, { manifest: { delegation, did } }, publicKey) {
  if (!delegation) {
    throw new RecoveryRefused(
      "damaged",
      "the snapshot carries no delegation to the key that named it: it may be someone else's",
    );
  }
  const audience = publicKey ? { audience: didKeyOf(publicKey) } : {};
  try {
    await vault.verifyUcan(Uint8Array.from(delegation), { ...audience, subject: did, command: PUBLISH, args: {} });
  } catch (cause) {
    if (!(cause instanceof PluginCallError)) throw cause;
    const why = `the snapshot is not named by its vault's key: the delegation does not hold (${cause.code})`;
    throw new RecoveryRefused("damaged", why, { cause });
  }
}

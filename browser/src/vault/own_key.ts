/** Finds, among the keys of a vault, the one whose hash is the vault's DID. */

import { fromHex } from "../bytes.ts";
import { PluginCallError } from "../errors.ts";

/**
 * Returns the P-256 key of a DID.
 *
 * @param keys the rows of `enclaves`
 * @param keccak256 returns 0x-hex
 * @returns hex digits; `point`: uncompressed
 * @throws {PluginCallError} there is no such key
 */
export async function ownKey(
  did: string,
  keys: { curve: string; public_key: string }[] | undefined,
  keccak256: (octets: Uint8Array<ArrayBuffer>) => Promise<string> | string,
): Promise<{ x: string; y: string; point: string }> {
  for (const { curve, public_key: point } of keys ?? []) {
    if (`did:new:${await keccak256(fromHex(point.slice(2)))}` !== did) continue;
    if (curve !== "P-256") throw new PluginCallError("exec", "an account obeys P-256 keys only", "unsupported_curve");
    return { x: point.slice(2, 66), y: point.slice(66), point };
  }
  throw new PluginCallError("exec", "the vault has no key of its DID", "not_found");
}

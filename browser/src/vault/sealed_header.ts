/** The clear header of a sealed vault (docs/formats.md): its revision, its DID and its wraps. */

const MAGIC = "HFDB";
const WRAP_COUNT_AT = 5;
const DID_LENGTH_AT = 6;
const REVISION_AT = 8;
const DID_AT = 44;
/** The total length of the salt, Argon2id's parameters, the nonce and the sealed data key. */
const WRAP_REST = 16 + 12 + 12 + 48;
const KINDS: Record<number, string> = { 1: "secret", 2: "prf", 3: "password" };

/** @returns null if the bytes are not a sealed vault */
export function readHeader(sealed: Uint8Array): { did: string; revision: number } | null {
  const decoder = new TextDecoder();
  if (sealed.length < DID_AT || decoder.decode(sealed.subarray(0, MAGIC.length)) !== MAGIC) return null;
  const view = new DataView(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const end = DID_AT + view.getUint16(DID_LENGTH_AT);
  const revision = view.getBigUint64(REVISION_AT);
  if (end > sealed.length || revision > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  return { did: decoder.decode(sealed.subarray(DID_AT, end)), revision: Number(revision) };
}

/**
 * Returns the wraps in a sealed vault's clear header (docs/formats.md), up to the first malformed one.
 * @returns `bytes`: the whole wrap, for comparison
 */
export function wrapsOf(sealed: Uint8Array): { kind: string; id: string; bytes: string }[] {
  const found = [];
  let at = DID_AT + new DataView(sealed.buffer, sealed.byteOffset).getUint16(DID_LENGTH_AT);
  for (let count = sealed[WRAP_COUNT_AT]; count > 0; count -= 1) {
    const nameEnd = at + 2 + sealed[at + 1];
    const bytes = sealed.subarray(at, nameEnd + WRAP_REST);
    if (!(nameEnd + WRAP_REST <= sealed.length)) break;
    found.push({
      kind: KINDS[sealed[at]],
      id: new TextDecoder().decode(sealed.subarray(at + 2, nameEnd)),
      bytes: bytes.join(),
    });
    at = nameEnd + WRAP_REST;
  }
  return found;
}

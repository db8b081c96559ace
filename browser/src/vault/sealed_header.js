/** The clear header of a sealed vault (docs/formats.md): its revision and its DID. */

const MAGIC = "HFDB";
const DID_LENGTH_AT = 6;
const REVISION_AT = 8;
const DID_AT = 44;

/**
 * @param {Uint8Array} sealed
 * @returns {{did: string, revision: number} | null} null if the bytes are not a sealed vault
 */
export function readHeader(sealed) {
  const decoder = new TextDecoder();
  if (sealed.length < DID_AT || decoder.decode(sealed.subarray(0, MAGIC.length)) !== MAGIC) return null;
  const view = new DataView(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const end = DID_AT + view.getUint16(DID_LENGTH_AT);
  const revision = view.getBigUint64(REVISION_AT);
  if (end > sealed.length || revision > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  return { did: decoder.decode(sealed.subarray(DID_AT, end)), revision: Number(revision) };
}

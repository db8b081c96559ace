/**
 * CIDs of the only kind that is used here (version 1, SHA-256, codec raw or dag-cbor), and the blocks that they identify.
 *
 * A CID of this kind has 36 bytes, and one canonical text in lower-case base32 without padding. Every other spelling is
 * refused, so that CIDs can be compared as text.
 */

import { isSame } from "../bytes.js";
import { fromBase32, toBase32 } from "./bases.js";
import { ContentError } from "./content_error.js";

export const CID_BYTES = 36;
export const MAX_BLOCK_BYTES = 1 << 20;
const CID_CHARACTERS = 59;
/** The numbers of the codecs in the multicodec table. */
const NUMBERS = { raw: 0x55, "dag-cbor": 0x71 };

/**
 * @typedef {"raw" | "dag-cbor"} Codec
 * @typedef {{cid: string, data: Uint8Array<ArrayBuffer>}} Block bytes, and the canonical text of their CID
 */

/** @param {Codec} codec @param {Uint8Array<ArrayBuffer>} data @returns {Promise<Block>} */
export async function blockOf(codec, data) {
  return { cid: textOf(Uint8Array.from([1, NUMBERS[codec], 0x12, 32, ...(await hashOf(data))])), data };
}

/**
 * @param {Uint8Array} cid its 36 bytes
 * @returns {string} the canonical text
 * @throws {ContentError} a CID of another kind
 */
export function textOf(cid) {
  if (!isSupported(cid))
    throw new ContentError("other_cid", "the CID is of another kind than version 1, SHA-256, raw or dag-cbor");
  return "b" + toBase32(cid);
}

/** @param {Uint8Array} cid */
export function isSupported(cid) {
  const known =
    cid[0] === 1 && (cid[1] === NUMBERS.raw || cid[1] === NUMBERS["dag-cbor"]) && cid[2] === 0x12 && cid[3] === 32;
  return known && cid.length === CID_BYTES;
}

/**
 * @param {string} cid the canonical text
 * @returns {Uint8Array<ArrayBuffer>} its 36 bytes
 * @throws {ContentError} any other text
 */
export function cidBytes(cid) {
  const found = cid.length === CID_CHARACTERS && cid[0] === "b" ? fromBase32(cid.slice(1)) : null;
  if (!found) throw new ContentError("invalid_cid", "the text is not a CID in base32");
  if (textOf(found) !== cid) throw new ContentError("invalid_cid", "the text is not the CID's canonical one");
  return found;
}

/** @param {string} cid the canonical text @returns {Codec} @throws {ContentError} any other text */
export function codecOf(cid) {
  return cidBytes(cid)[1] === NUMBERS.raw ? "raw" : "dag-cbor";
}

/** Whether a value is the canonical text of a CID of this codec. @param {unknown} value @param {Codec} codec */
export function isCid(value, codec) {
  try {
    return typeof value === "string" && codecOf(value) === codec;
  } catch (error) {
    if (error instanceof ContentError) return false;
    throw error;
  }
}

/**
 * Returns `data` if it matches the CID.
 * @param {string} cid @param {Uint8Array<ArrayBuffer>} data @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {ContentError} it does not match
 */
export async function verified(cid, data) {
  if (isSame(cidBytes(cid).subarray(4), await hashOf(data))) return data;
  throw new ContentError("block_mismatch", "a block does not match its CID");
}

/** @param {Uint8Array<ArrayBuffer>} data */
async function hashOf(data) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", data));
}

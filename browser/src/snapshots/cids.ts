/**
 * CIDs of the only kind that is used here (version 1, SHA-256, codec raw or dag-cbor), and the blocks that they identify.
 *
 * A CID of this kind has 36 bytes, and one canonical text in lower-case base32 without padding. Every other spelling is
 * refused, so that CIDs can be compared as text.
 */

import { isSame } from "../bytes.ts";
import { fromMultibase, toMultibase } from "./bases.ts";
import { ContentError } from "./content_error.ts";

export const CID_BYTES = 36;
export const MAX_BLOCK_BYTES = 1 << 20;
const CID_CHARACTERS = 59;
/** The numbers of the codecs in the multicodec table. */
const NUMBERS = { raw: 0x55, "dag-cbor": 0x71 };

type Codec = "raw" | "dag-cbor";

/** bytes, and the canonical text of their CID */
export type Block = { cid: string; data: Uint8Array<ArrayBuffer> };

export async function blockOf(codec: Codec, data: Uint8Array<ArrayBuffer>): Promise<Block> {
  return { cid: textOf(Uint8Array.from([1, NUMBERS[codec], 0x12, 32, ...(await hashOf(data))])), data };
}

/**
 * @param cid its 36 bytes
 * @returns the canonical text
 * @throws {ContentError} a CID of another kind
 */
export function textOf(cid: Uint8Array): string {
  if (!isSupported(cid))
    throw new ContentError("other_cid", "the CID is of another kind than version 1, SHA-256, raw or dag-cbor");
  return toMultibase("b", cid);
}

export function isSupported(cid: Uint8Array) {
  const [version, codec, hash, length] = cid;
  const isKnown = version === 1 && Object.values(NUMBERS).includes(codec) && hash === 0x12 && length === 32;
  return isKnown && cid.length === CID_BYTES;
}

/**
 * @param cid the canonical text
 * @returns its 36 bytes
 * @throws {ContentError} any other text
 */
export function cidBytes(cid: string): Uint8Array<ArrayBuffer> {
  const found = cid.length === CID_CHARACTERS && cid[0] === "b" ? fromMultibase(cid) : null;
  if (!found) throw new ContentError("invalid_cid", "the text is not a CID in base32");
  if (textOf(found) !== cid) throw new ContentError("invalid_cid", "the text is not the CID's canonical one");
  return found;
}

/** @param cid the canonical text @throws {ContentError} any other text */
export function codecOf(cid: string): Codec {
  return cidBytes(cid)[1] === NUMBERS.raw ? "raw" : "dag-cbor";
}

/** Whether a value is the canonical text of a CID of this codec. */
export function isCid(value: unknown, codec: Codec): value is `b${string}` {
  try {
    return typeof value === "string" && codecOf(value) === codec;
  } catch (error) {
    if (error instanceof ContentError) return false;
    throw error;
  }
}

/** Returns `data` if it matches the CID. @throws {ContentError} it does not match */
export async function verified(cid: string, data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (isSame(cidBytes(cid).subarray(4), await hashOf(data))) return data;
  throw new ContentError("block_mismatch", "a block does not match its CID");
}

async function hashOf(data: Uint8Array<ArrayBuffer>) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", data));
}

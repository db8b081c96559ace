/**
 * Converts between Ed25519 keys and IPNS names such as `k51…`, which contain the key (IPNS specification, "IPNS Name").
 */

import { joined } from "../bytes.ts";
import { fromMultibase, toMultibase } from "./bases.ts";
import { ContentError } from "./content_error.ts";

export const PUBLIC_KEY_BYTES = 32;
const MAX_CHARACTERS = 80; // the longest text of such a name, in base32, has 65
/**
 * Before the key in a name: a CIDv1 with codec libp2p-key, an identity multihash, and the protobuf header for Ed25519.
 */
const KEY = [0x08, 1, 0x12, PUBLIC_KEY_BYTES];
const MULTIHASH = [0x00, KEY.length + PUBLIC_KEY_BYTES, ...KEY];
const CID = [1, 0x72, ...MULTIHASH];
const MULTICODEC = [0xed, 0x01]; // ed25519-pub (did:key method)

/**
 * @param publicKey an Ed25519 key's 32 bytes
 * @returns the canonical name: base36, `k51…`
 * @throws {ContentError}
 */
export function nameOf(publicKey: Uint8Array): string {
  if (publicKey.length !== PUBLIC_KEY_BYTES)
    throw new ContentError("invalid_name", "an Ed25519 public key has 32 bytes");
  return toMultibase("k", after(CID, publicKey));
}

/** @returns the key in its protobuf, as in field 7 of a record */
export function keyBytes(publicKey: Uint8Array): Uint8Array<ArrayBuffer> {
  return after(KEY, publicKey);
}

/** @returns the key as `did:key`, the audience of the delegation that binds it to a vault's DID */
export function didKeyOf(publicKey: Uint8Array): string {
  return `did:key:${toMultibase("z", after(MULTICODEC, publicKey))}`;
}

/**
 * Returns the key in a name, which may be in base36, base32 or base58 with a multibase prefix, or be a peer ID.
 * @returns 32 bytes
 * @throws {ContentError} it is any other text, or the name of another kind of key
 */
export function publicKeyOf(name: string): Uint8Array<ArrayBuffer> {
  const peer = name.startsWith("12D3Koo");
  const known = peer ? MULTIHASH : CID;
  const text = peer ? `z${name}` : name;
  const found = text.length <= MAX_CHARACTERS ? fromMultibase(text) : null;
  if (!found || toMultibase(text[0], found) !== text)
    throw new ContentError("invalid_name", "the text is not an IPNS name");
  if (found.length !== known.length + PUBLIC_KEY_BYTES || !known.every((byte, at) => byte === found[at]))
    throw new ContentError("invalid_name", "the text is not the IPNS name of an Ed25519 key");
  return found.slice(known.length);
}

function after(before: number[], key: Uint8Array) {
  return joined([Uint8Array.from(before), key]);
}

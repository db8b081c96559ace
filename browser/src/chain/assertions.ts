/** A passkey's assertion as the signature of an account (docs/contracts.md, "Signatures"; WebAuthn, section 5.8.1). */

import { fromBase64, toBase64url, toHex } from "../bytes.ts";
import { bytes, number, tuple } from "./abi.ts";

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const [AUTHENTICATOR_DATA, CLIENT_DATA] = [37, 150];
const [CHALLENGE, TYPE] = ['"challenge":"', '"type":"'];
const [FLAGS, VERIFIED, BACKUP, BACKED_UP] = [32, 0x05, 0x18, 0x10];

/**
 * @param assertion base64 of its JSON, whose challenge is the hash that is signed
 * @returns 0x-hex
 * @throws {TypeError} a part is malformed
 */
export function signatureIn(assertion: string): string {
  const response = responseIn(assertion);
  const { r, s } = integersIn(fromBase64(response.signature));
  return encoded(r, s, fromBase64(response.authenticatorData), fromBase64(response.clientDataJSON));
}

/**
 * @param assertion base64 of its JSON
 * @returns each field in base64url
 */
export function responseIn(assertion: string): Record<"signature" | "authenticatorData" | "clientDataJSON", string> {
  return JSON.parse(new TextDecoder().decode(fromBase64(assertion))).response;
}

/**
 * Returns whether an account accepts an assertion of this form, if the signature is the passkey's: the challenge must
 * be the digest, the user present and verified, and a passkey that is backed up one that can be. Source:
 * contracts/src/account/Assertions.sol; vectors/accounts/assertions.json.
 *
 * @param assertion base64 of its JSON
 */
export function isAccepted(challenge: Uint8Array<ArrayBuffer>, assertion: string) {
  const response = responseIn(assertion);
  const data = fromBase64(response.authenticatorData);
  const client = textOf(fromBase64(response.clientDataJSON));
  const flags = data.length < AUTHENTICATOR_DATA ? 0 : data[FLAGS];
  const parts = [`${CHALLENGE}${toBase64url(challenge)}"`, `${TYPE}webauthn.get"`];
  const isFor = [CHALLENGE, TYPE].every((begin, at) => client.startsWith(parts[at], client.indexOf(begin)));
  return isFor && (flags & VERIFIED) === VERIFIED && (flags & BACKUP) !== BACKED_UP;
}

/** An unsigned assertion of typical length, for estimates of gas. */
export function placeholderAssertion() {
  const text = `{"type":"webauthn.get","challenge":"${"A".repeat(43)}","origin":"https://`.padEnd(CLIENT_DATA, "x");
  const data = new Uint8Array(AUTHENTICATOR_DATA).fill(0x1d, 32, 33);
  return encoded(ORDER / 2n, ORDER / 2n, data, new TextEncoder().encode(`${text}"}`));
}

function encoded(r: bigint, s: bigint, data: Uint8Array<ArrayBuffer>, client: Uint8Array<ArrayBuffer>) {
  const text = textOf(client);
  const offsets = [CHALLENGE, TYPE].map((it) => text.indexOf(it));
  if (offsets.some((it) => it < 0)) throw new TypeError("the client data has no challenge or no type");
  const low = s > ORDER / 2n ? ORDER - s : s; // both verify; the account takes the lower
  return `0x${tuple(...[r, low, ...offsets].map(number), bytes(toHex(data)), bytes(toHex(client)))}`;
}

/** Returns the bytes as one character each, so that positions count bytes, as in the contract. */
function textOf(bytes: Uint8Array) {
  return new TextDecoder("latin1").decode(bytes);
}

/** Reads a DER sequence of two integers (RFC 3279, section 2.2.3). */
function integersIn(der: Uint8Array<ArrayBuffer>) {
  const first = der[3];
  const [one, two] = [der.subarray(4), der.subarray(6 + first)];
  const isWhole = der[0] === 0x30 && der[2] === 2 && der[4 + first] === 2 && der[5 + first] === two.length;
  if (isWhole && der[1] === der.length - 2 && [one.subarray(0, first), two].every(isPositive)) {
    const [r, s] = [one.subarray(0, first), two].map((it) => BigInt(toHex(it)));
    if (r < ORDER && s < ORDER) return { r, s };
  }
  throw new TypeError("the passkey's signature is malformed");
}

/** Whether the bytes are a positive integer of DER, in its shortest form. */
function isPositive([first, second = 0]: Uint8Array) {
  return first < 0x80 && (first > 0 || second >= 0x80);
}

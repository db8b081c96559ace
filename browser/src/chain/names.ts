/** Hashes, DIDs and addresses in the form that the contracts use; the enclave computes the hashes. */

import { fromHex } from "../bytes.ts";
import type { Vault } from "../vault/vault.ts";

const encoder = new TextEncoder();

/** @returns Keccak-256 of the text's UTF-8, 0x-hex */
export function textHash(vault: Vault, text: string): Promise<string> {
  return vault.keccak256(encoder.encode(text));
}

/** Returns a handle in the service's canonical form, which is the alias on the chain (docs/formats.md). */
export function canonicalHandle(handle: string) {
  return handle.normalize("NFKC").trim().toLowerCase().normalize("NFC");
}

/** What a handle consists of, in its canonical form (RFC 8264, IdentifierClass). */
const HANDLE = /^[!-~\p{L}\p{Mn}\p{Mc}\p{Nd}\xb7\u0375\u05f3\u05f4\u06fd\u06fe\u0f0b\u3007\u30fb\u200c\u200d]{1,64}$/u;
/** Letters of which it has none (RFC 5892, sections 2.6 and 2.9): conjoining jamo, ignorable ones and exceptions. */
const NEVER =
  /(?![\u200c\u200d])\p{DI}|[\u302e-\u302f\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb\u0640\u07fa\u3031-\u3035\u303b]/u;
/** Letters in a place where they may not be (RFC 5892, appendix A). Joiners follow a mark, or are within cursive script. */
const MISPLACED = [
  /(?<!l)\xb7|\xb7(?!l)|\u0375(?!\p{Script=Greek})|(?<!\p{Script=Hebrew})[\u05f3\u05f4]|(?<![\p{Mn}\p{Mc}])\u200d|(?<![\p{Mn}\p{Mc}\u0590-\u08ff\u1800-\u18af\ua840-\ua87f\u{10800}-\u{10fff}\u{1e900}-\u{1e95f}])\u200c/u,
  /^[^\p{Script=Hira}\p{Script=Kana}\p{Script=Hani}]*\u30fb[^\p{Script=Hira}\p{Script=Kana}\p{Script=Hani}]*$/u,
  /[\u0660-\u0669].*[\u06f0-\u06f9]|[\u06f0-\u06f9].*[\u0660-\u0669]/u,
];
/** Letters that are written from right to left, Arabic digits, and the other letters (RFC 5893). */
const RIGHT = "(?=[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufeff\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}])";
const [OF_RIGHT, DIGIT, ARABIC] = [
  `${RIGHT}[\\p{L}\\p{Nd}\\p{Po}\\u06fd\\u06fe](?<![\\u06f0-\\u06f9])`,
  "[0-9\\u06f0-\\u06f9]",
  "[\\u0660-\\u0669\\u{10d30}-\\u{10d39}]",
];
const [HAS_RIGHT, LEFT] = [new RegExp(OF_RIGHT, "u"), `(?!${OF_RIGHT}|${DIGIT})[\\p{L}\\p{Mc}\\p{Nd}\\u3007]`];
/** A handle with such letters: from its first to its last one, and with one kind of digits. */
const RIGHT_TO_LEFT = new RegExp(
  `^(?!.*${LEFT})(?!.*${DIGIT}.*${ARABIC}|.*${ARABIC}.*${DIGIT})(?!${ARABIC}|${DIGIT})${OF_RIGHT}(?:.*(?:${OF_RIGHT}|${DIGIT}))?\\p{Mn}*$`,
  "u",
);

/**
 * Returns a handle in its canonical form.
 *
 * @throws {TypeError} no service registers such a handle
 */
export function checkedHandle(handle: string) {
  const canonical = canonicalHandle(handle);
  const isInOrder = () => !HAS_RIGHT.test(canonical) || RIGHT_TO_LEFT.test(canonical);
  const isPlaced = () => ![NEVER, ...MISPLACED].some((it) => it.test(canonical));
  if (HANDLE.test(canonical) && isPlaced() && isInOrder()) return canonical;
  throw new TypeError("this handle cannot be registered: choose another");
}

/**
 * Returns the DID of a P-256 key.
 *
 * @param x 0x-hex or hex, at most 64 digits
 */
export async function didOfKey(vault: Vault, x: string, y: string): Promise<string> {
  return `did:new:${await vault.keccak256(fromHex(word(x) + word(y)))}`;
}

/**
 * @param address 0x-hex
 * @returns with the checksum of EIP-55
 */
export async function checksumAddress(vault: Vault, address: string): Promise<string> {
  const digits = address.slice(2).toLowerCase();
  const hash = (await textHash(vault, digits)).slice(2);
  return "0x" + [...digits].map((digit, at) => (parseInt(hash[at], 16) > 7 ? digit.toUpperCase() : digit)).join("");
}

function word(hex: string) {
  return hex.replace(/^0x/i, "").padStart(64, "0");
}

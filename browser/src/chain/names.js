/** Hashes, DIDs and addresses in the form that the contracts use; the enclave computes the hashes. */

import { fromHex } from "../bytes.js";

const encoder = new TextEncoder();

/** @typedef {import("../vault/vault.js").Vault} Vault */

/**
 * @param {Vault} vault
 * @param {string} text
 * @returns {Promise<string>} Keccak-256 of the text's UTF-8, 0x-hex
 */
export function textHash(vault, text) {
  return vault.keccak256(encoder.encode(text));
}

/**
 * Returns a handle in the service's canonical form, which is the alias on the chain (docs/formats.md).
 *
 * @param {string} handle
 */
export function canonicalHandle(handle) {
  return handle.normalize("NFKC").trim().toLowerCase().normalize("NFC");
}

/** What a handle may consist of, in its canonical form. The service also applies RFC 8265's rules for single letters. */
const HANDLE = /^[!-~\p{L}\p{M}\p{N}\xb7\u0375\u05f3\u05f4\u06fd\u06fe\u0f0b\u30fb\p{Join_C}]{1,64}$/u;

/**
 * Returns a handle in its canonical form.
 *
 * @param {string} handle
 * @throws {TypeError} no service registers such a handle
 */
export function checkedHandle(handle) {
  const canonical = canonicalHandle(handle);
  if (HANDLE.test(canonical)) return canonical;
  throw new TypeError("this handle cannot be registered: choose another");
}

/**
 * Returns the DID of a P-256 key.
 *
 * @param {Vault} vault
 * @param {string} x 0x-hex or hex, at most 64 digits
 * @param {string} y
 * @returns {Promise<string>}
 */
export async function didOfKey(vault, x, y) {
  return `did:new:${await vault.keccak256(fromHex(word(x) + word(y)))}`;
}

/**
 * @param {Vault} vault
 * @param {string} address 0x-hex
 * @returns {Promise<string>} with the checksum of EIP-55
 */
export async function checksumAddress(vault, address) {
  const digits = address.slice(2).toLowerCase();
  const hash = (await textHash(vault, digits)).slice(2);
  return "0x" + [...digits].map((digit, at) => (parseInt(hash[at], 16) > 7 ? digit.toUpperCase() : digit)).join("");
}

/** @param {string} hex */
function word(hex) {
  return hex.replace(/^0x/i, "").padStart(64, "0");
}

/** Signed EIP-1559 transactions, with which an ordinary address brings an operation to the chain. */

import { fromHex } from "../bytes.js";
import { keccak256 } from "../did/keccak.js";
import { digits } from "./abi.js";

const SHORT = 55; // RLP: longest content whose length fits into the first byte
const TYPE = "02"; // EIP-2718

/**
 * @typedef {bigint | string | Item[]} Item of RLP: a number, hex digits, or a list
 * @typedef {{chainId: number, nonce: bigint, tip: bigint, maxFee: bigint, gas: bigint, to: string, value?: bigint, data?: string}} Transaction
 *   fees in wei per unit of gas; `to` and `data` in 0x-hex
 */

/**
 * @param {Transaction} transaction
 * @param {(digest: Uint8Array) => {signature: string, recovery: number}} sign `signature`: r ‖ s as hex digits
 * @returns {string} 0x-hex, for eth_sendRawTransaction
 */
export function signedTransaction({ chainId, nonce, tip, maxFee, gas, to, value = 0n, data = "0x" }, sign) {
  /** @type {Item[]} */
  const fields = [BigInt(chainId), nonce, tip, maxFee, gas, to.slice(2), value, data.slice(2), []];
  const { signature, recovery } = sign(keccak256(fromHex(TYPE + rlp(fields))));
  const [r, s] = [signature.slice(0, 64), signature.slice(64)].map((part) => BigInt(`0x${part}`));
  return `0x${TYPE}${rlp([...fields, BigInt(recovery), r, s])}`;
}

/** @param {string} transaction 0x-hex @returns {string} its hash */
export function hashOf(transaction) {
  return `0x${digits(keccak256(fromHex(transaction)))}`;
}

/** @param {Item} item @returns {string} hex digits */
export function rlp(item) {
  if (Array.isArray(item)) return prefixed(item.map(rlp).join(""), 0xc0);
  const content = typeof item === "bigint" ? even(item) : item;
  return content.length === 2 && parseInt(content, 16) < 0x80 ? content : prefixed(content, 0x80);
}

/** @param {string} content @param {number} base */
function prefixed(content, base) {
  const size = content.length / 2;
  if (size <= SHORT) return (base + size).toString(16) + content;
  const length = even(BigInt(size));
  return (base + SHORT + length.length / 2).toString(16) + length + content;
}

/** @param {bigint} number */
function even(number) {
  const text = number ? number.toString(16) : "";
  return text.length % 2 ? `0${text}` : text;
}

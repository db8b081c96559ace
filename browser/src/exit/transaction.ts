/** Signed EIP-1559 transactions, with which an ordinary address brings an operation to the chain. */

import { fromHex } from "../bytes.ts";
import { keccak256 } from "../did/keccak.ts";
import { digits } from "./abi.ts";

const SHORT = 55; // RLP: longest content whose length fits into the first byte
const TYPE = "02"; // EIP-2718

/** of RLP: a number, hex digits, or a list */
type Item = bigint | string | Item[];

/** fees in wei per unit of gas; `to` and `data` in 0x-hex */
type Transaction = {
  chainId: number;
  nonce: bigint;
  tip: bigint;
  maxFee: bigint;
  gas: bigint;
  to: string;
  value?: bigint;
  data?: string;
};

/**
 * @param sign `signature`: r ‖ s as hex digits
 * @returns 0x-hex, for eth_sendRawTransaction
 */
export function signedTransaction(
  { chainId, nonce, tip, maxFee, gas, to, value = 0n, data = "0x" }: Transaction,
  sign: (digest: Uint8Array) => { signature: string; recovery: number },
): string {
  const fields: Item[] = [BigInt(chainId), nonce, tip, maxFee, gas, to.slice(2), value, data.slice(2), []];
  const { signature, recovery } = sign(keccak256(fromHex(TYPE + rlp(fields))));
  const [r, s] = [signature.slice(0, 64), signature.slice(64)].map((part) => BigInt(`0x${part}`));
  return `0x${TYPE}${rlp([...fields, BigInt(recovery), r, s])}`;
}

/** @param transaction 0x-hex @returns its hash */
export function hashOf(transaction: string): string {
  return `0x${digits(keccak256(fromHex(transaction)))}`;
}

/** @returns hex digits */
export function rlp(item: Item): string {
  if (Array.isArray(item)) return prefixed(item.map(rlp).join(""), 0xc0);
  const content = typeof item === "bigint" ? even(item) : item;
  return content.length === 2 && parseInt(content, 16) < 0x80 ? content : prefixed(content, 0x80);
}

function prefixed(content: string, base: number) {
  const size = content.length / 2;
  if (size <= SHORT) return (base + size).toString(16) + content;
  const length = even(BigInt(size));
  return (base + SHORT + length.length / 2).toString(16) + length + content;
}

function even(number: bigint) {
  const text = number ? number.toString(16) : "";
  return text.length % 2 ? `0${text}` : text;
}

/** Encodes the calls of an exit (Solidity ABI). Values are hex digits without 0x unless a comment says otherwise. */

import { keccak256 } from "../did/keccak.js";

const WORD = 64;
const encoder = new TextEncoder();
const OPERATION = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)";

/**
 * @typedef {{to: string, value: bigint, data: string}} Call `to` and `data` in 0x-hex; `value` in wei
 * @typedef {string | {dynamic: string}} Part a word, or what stands behind the words, after an offset
 */

/** @param {string} signature such as `transfer(address,uint256)` @param {...Part} parts @returns {string} 0x-hex */
export function callData(signature, ...parts) {
  return `0x${hash(signature).slice(0, 8)}${tuple(parts)}`;
}

/** @param {string} text @returns {string} Keccak-256 of its UTF-8 */
export function hash(text) {
  return digits(keccak256(encoder.encode(text)));
}

/** @param {Uint8Array} octets */
export function digits(octets) {
  return Array.from(octets, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {bigint | number} value @returns {string} a word */
export function number(value) {
  return value.toString(16).padStart(WORD, "0");
}

/** @param {string} text 0x-hex @returns {string} a word */
export function address(text) {
  return text.slice(2).toLowerCase().padStart(WORD, "0");
}

/** @param {string} hex 0x-hex @returns {Part} */
export function bytes(hex) {
  const content = hex.slice(2);
  return { dynamic: number(content.length / 2) + content.padEnd(Math.ceil(content.length / WORD) * WORD, "0") };
}

/** @param {Part[][]} items tuples @returns {Part} */
export function array(items) {
  return { dynamic: number(items.length) + tuple(items.map((item) => ({ dynamic: tuple(item) }))) };
}

/** @param {Part[]} parts */
function tuple(parts) {
  let end = (parts.length * WORD) / 2;
  const heads = parts.map((part) => {
    if (typeof part === "string") return part;
    const start = end;
    end += part.dynamic.length / 2;
    return number(start);
  });
  return heads.join("") + parts.map((part) => (typeof part === "string" ? "" : part.dynamic)).join("");
}

/**
 * Returns the call data with which the account makes several calls, all or none.
 *
 * @param {Call[]} calls
 * @returns {string} 0x-hex
 */
export function executeBatch(calls) {
  const listed = calls.map(({ to, value, data }) => [address(to), number(value), bytes(data)]);
  return callData("executeBatch((address,uint256,bytes)[])", array(listed));
}

/**
 * Returns the call data that has one signed operation executed by the entry point, which pays its fees to `beneficiary`.
 *
 * @param {import("../generated/types.js").UserOp} operation without a paymaster
 * @param {string} beneficiary
 * @returns {string} 0x-hex
 */
export function handleOps(operation, beneficiary) {
  const { initCode, accountGasLimits, gasFees } = packed(operation);
  const fields = [
    address(operation.sender),
    number(BigInt(operation.nonce)),
    bytes(initCode),
    bytes(operation.callData),
    accountGasLimits.slice(2),
    number(BigInt(operation.preVerificationGas)),
    gasFees.slice(2),
    bytes("0x"),
    bytes(operation.signature),
  ];
  return callData(`handleOps(${OPERATION}[],address)`, array([fields]), address(beneficiary));
}

/** The fields of a packed operation (ERC-4337) that combine others, in 0x-hex. @param {import("../generated/types.js").UserOp} operation */
export function packed({
  factory,
  factoryData,
  callGasLimit,
  verificationGasLimit,
  maxFeePerGas,
  maxPriorityFeePerGas,
}) {
  return {
    initCode: factory ? factory + (factoryData ?? "0x").slice(2) : "0x",
    accountGasLimits: `0x${halves(verificationGasLimit, callGasLimit)}`,
    gasFees: `0x${halves(maxPriorityFeePerGas, maxFeePerGas)}`,
  };
}

/** @param {string} high 0x-hex @param {string} low */
function halves(high, low) {
  return number((BigInt(high) << 128n) | BigInt(low));
}

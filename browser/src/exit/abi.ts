/** Encodes the calls of an exit (Solidity ABI). Values are hex digits without 0x unless a comment says otherwise. */

import { toHex } from "../bytes.ts";
import { bytes, number as word, type Part, tuple, WORD } from "../chain/abi.ts";
import { keccak256 } from "../did/keccak.ts";
import type { UserOp } from "../generated/types.ts";

export { bytes };

const BITS = BigInt(WORD * 4);
const encoder = new TextEncoder();
const OPERATION = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)";

/** `to` and `data` in 0x-hex; `value` in wei */
export type Call = { to: string; value: bigint; data: string };

/** @param signature such as `transfer(address,uint256)` @returns 0x-hex */
export function callData(signature: string, ...parts: Part[]): string {
  return `0x${hash(signature).slice(0, 8)}${tuple(...parts)}`;
}

/** @returns Keccak-256 of its UTF-8 */
export function hash(text: string): string {
  return digits(keccak256(encoder.encode(text)));
}

export function digits(octets: Uint8Array<ArrayBuffer>) {
  return toHex(octets).slice(2);
}

/** @returns a word @throws {SyntaxError} a longer number, which a lying node may name: it would shift what follows */
export function number(value: bigint | number): string {
  if (value < 0 || BigInt(value) >> BITS) throw new SyntaxError("number");
  return word(value);
}

/** @param text 0x-hex @returns a word @throws {SyntaxError} likewise */
export function address(text: string): string {
  if (!/^0x[0-9a-f]{40}$/i.test(text)) throw new SyntaxError("address");
  return word(BigInt(text));
}

/** @param items tuples */
function array(items: Part[][]): Part {
  return { rest: word(items.length) + tuple(...items.map((item) => ({ rest: tuple(...item) }))) };
}

/**
 * Returns the call data with which the account makes several calls, all or none.
 *
 * @returns 0x-hex
 */
export function executeBatch(calls: Call[]): string {
  const listed = calls.map(({ to, value, data }) => [address(to), number(value), bytes(data)]);
  return callData("executeBatch((address,uint256,bytes)[])", array(listed));
}

/**
 * Returns the call data that has one signed operation executed by the entry point, which pays its fees to
 * `beneficiary`.
 *
 * @param operation without a paymaster
 * @returns 0x-hex
 */
export function handleOps(operation: UserOp, beneficiary: string): string {
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

/** The fields of a packed operation (ERC-4337) that combine others, in 0x-hex. */
export function packed({
  factory,
  factoryData,
  callGasLimit,
  verificationGasLimit,
  maxFeePerGas,
  maxPriorityFeePerGas,
}: UserOp) {
  return {
    initCode: factory ? factory + (factoryData ?? "0x").slice(2) : "0x",
    accountGasLimits: `0x${halves(verificationGasLimit, callGasLimit)}`,
    gasFees: `0x${halves(maxPriorityFeePerGas, maxFeePerGas)}`,
  };
}

/** @param high 0x-hex */
function halves(high: string, low: string) {
  return number((BigInt(high) << 128n) | BigInt(low));
}

/** Who pays for a user operation, and how much the account may pay. */

import type { UserOp } from "../generated/types.ts";
import { hex } from "./abi.ts";
import { isAddress } from "./calls.ts";

/**
 * Whether a paymaster pays for the operation. The zero address is not a paymaster: EntryPoint v0.7 then charges the
 * account.
 */
export function isSponsored({ paymaster }: Pick<UserOp, "paymaster">) {
  return isAddress(paymaster) && BigInt(paymaster) > 0n;
}

/** Returns who pays for an operation, and the most that the account may pay, in wei. */
export function feeIn(operation: UserOp): { sponsored: boolean; cost: bigint } {
  const sponsored = isSponsored(operation);
  return { sponsored, cost: sponsored ? 0n : greatestCost(operation) };
}

/**
 * Returns the most that the entry point may charge the account for an operation without a paymaster (ERC-4337).
 *
 * @returns wei
 */
export function greatestCost({ callGasLimit, verificationGasLimit, preVerificationGas, maxFeePerGas }: UserOp): bigint {
  return (BigInt(callGasLimit) + BigInt(verificationGasLimit) + BigInt(preVerificationGas)) * BigInt(maxFeePerGas);
}

/** wei per gas, 0x-hex */
export type Fees = { maxFeePerGas: string; maxPriorityFeePerGas: string };

export const NO_FEES: Fees = { maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0" };

/**
 * Returns the fees (EIP-1559): the tip is the suggested one plus a quarter, because bundlers refuse operations whose
 * tip is slightly below what they require; the maximum is the tip plus twice the newest block's base fee.
 *
 * @returns in wei per unit of gas
 */
export function feesAbove(base: bigint, suggested: bigint) {
  const tip = suggested > 1n ? suggested + suggested / 4n : 1n;
  return { tip, maxFee: 2n * base + tip };
}

/** Returns the higher of each. */
export function higherFees(one: Fees, other: Fees) {
  return eachFee(one, other, (fee, least) => (fee > least ? fee : least));
}

/** Returns what `chosen` returns for each fee. */
export function eachFee(one: Fees, other: Fees, chosen: (fee: bigint, other: bigint) => bigint): Fees {
  const of = (name: keyof Fees) => hex(chosen(BigInt(one[name]), BigInt(other[name])));
  return { maxFeePerGas: of("maxFeePerGas"), maxPriorityFeePerGas: of("maxPriorityFeePerGas") };
}

/** Has an account make a call, and waits until the operation is mined. */

import type { SmartAccount } from "../flows/account.ts";

import type { UserOp } from "../generated/types.ts";

export type OnProgress = (step: "prepared" | "sent" | "confirmed") => void;

/**
 * @param callData of the operation, 0x-hex
 * @returns the operation's hash
 */
export async function operated(account: SmartAccount, callData: string, onProgress?: OnProgress): Promise<string> {
  return (await mined(account, account.prepared(callData), onProgress)).hash;
}

/** The same for an operation that is being prepared. */
export async function mined(
  account: SmartAccount,
  prepared: Promise<UserOp>,
  onProgress?: OnProgress,
): Promise<{ hash: string; blockNumber: number }> {
  const operation = await prepared;
  onProgress?.("prepared");
  const signed = await account.signed(operation);
  await account.send(signed);
  onProgress?.("sent");
  const { blockNumber } = await account.wait(signed.hash);
  onProgress?.("confirmed");
  return { hash: signed.hash, blockNumber };
}

/** Has an account make a call, and waits until the operation is mined. */

/**
 * @import {SmartAccount} from "../flows/account.js"
 * @import {UserOp} from "../generated/types.js"
 * @typedef {(step: "prepared" | "sent" | "confirmed") => void} OnProgress
 */

/**
 * @param {SmartAccount} account
 * @param {string} callData of the operation, 0x-hex
 * @param {OnProgress} [onProgress]
 * @returns {Promise<string>} the operation's hash
 */
export async function operated(account, callData, onProgress) {
  return (await mined(account, account.prepared(callData), onProgress)).hash;
}

/**
 * The same for an operation that is being prepared.
 * @param {SmartAccount} account @param {Promise<UserOp>} prepared @param {OnProgress} [onProgress]
 * @returns {Promise<{hash: string, blockNumber: number}>}
 */
export async function mined(account, prepared, onProgress) {
  const operation = await prepared;
  onProgress?.("prepared");
  const signed = await account.signed(operation);
  await account.send(signed);
  onProgress?.("sent");
  const { blockNumber } = await account.wait(signed.hash);
  onProgress?.("confirmed");
  return { hash: signed.hash, blockNumber };
}

/** Has an account make a call, and waits until the operation is mined. */

/**
 * @param {import("../flows/account.js").SmartAccount} account
 * @param {string} callData of the operation, 0x-hex
 * @param {(step: "prepared" | "sent" | "confirmed") => void} [onProgress]
 * @returns {Promise<string>} the operation's hash
 */
export async function operated(account, callData, onProgress) {
  const operation = await account.prepared(callData);
  onProgress?.("prepared");
  const signed = await account.signed(operation);
  await account.send(signed);
  onProgress?.("sent");
  await account.wait(signed.hash);
  onProgress?.("confirmed");
  return signed.hash;
}

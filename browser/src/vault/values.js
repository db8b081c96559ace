/** Finds the values in a call that are transferred to the worker. */

/**
 * Returns the buffer with the vault key's secret from a call's arguments. Transferring the buffer removes the secret
 * from the page.
 *
 * @param {Record<string, any>} args
 * @returns {ArrayBuffer[]}
 */
export function secretsOf({ key }) {
  const secret = key?.secret;
  if (secret instanceof ArrayBuffer) return [secret];
  const whole = ArrayBuffer.isView(secret) && secret.byteLength === secret.buffer.byteLength;
  return whole ? [/** @type {ArrayBuffer} */ (secret.buffer)] : [];
}

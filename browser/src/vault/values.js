/** Values that are transferred to the worker. */

/**
 * Returns the buffer of the vault key's secret in a call's arguments. It is transferred, so the page no longer has it.
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

/** Values on their way into the worker. */

/**
 * The secret of a vault key among a call's arguments: its buffer moves, and the page has it no more.
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

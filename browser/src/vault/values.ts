/** Finds the values in a call that are transferred to the worker. */

/**
 * Returns the buffer with the vault key's secret from a call's arguments. Transferring the buffer removes the secret
 * from the page.
 */
export function secretsOf({ key }: { key?: { secret?: unknown } | null }): ArrayBuffer[] {
  const secret = key?.secret;
  if (secret instanceof ArrayBuffer) return [secret];
  const whole = ArrayBuffer.isView(secret) && secret.byteLength === secret.buffer.byteLength;
  return whole ? [secret.buffer as ArrayBuffer] : [];
}

/** Conversions between bytes and text: base64, base64url and hex. */

const CHUNK = 0x8000;

/** Returns the bytes of a buffer or of a list of numbers. A buffer is not copied. */
export function bytesOf(source: BufferSource | number[]): Uint8Array<ArrayBuffer> {
  if (Array.isArray(source)) return Uint8Array.from(source);
  if (!ArrayBuffer.isView(source)) return new Uint8Array(source);
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}

export function toBase64(source: BufferSource | number[]): string {
  const bytes = bytesOf(source);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

/** @returns without padding (RFC 4648, section 5) */
export function toBase64url(source: BufferSource | number[]): string {
  return toBase64(source).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * Decodes base64 or base64url, with or without padding.
 *
 * @throws {TypeError} not base64
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  } catch (cause) {
    throw new TypeError("the text is not base64", { cause });
  }
}

/** @returns 0x-prefixed, lower case */
export function toHex(source: BufferSource | number[]): string {
  return "0x" + Array.from(bytesOf(source), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param text hex digits, with or without 0x
 * @throws {TypeError} not hex
 */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  const digits = text.replace(/^0x/i, "");
  if (digits.length % 2 || !/^[0-9a-f]*$/i.test(digits)) throw new TypeError("the text is not hexadecimal");
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** @returns from the browser's cryptographic generator */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

export function joined(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function isSame(one: Uint8Array, other: Uint8Array) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

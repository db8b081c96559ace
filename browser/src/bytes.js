/** Conversions between bytes and text: base64, base64url and hex. */

const CHUNK = 0x8000;

/**
 * Returns the bytes of a buffer or of a list of numbers. A buffer is not copied.
 *
 * @param {BufferSource | number[]} source
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function bytesOf(source) {
  if (Array.isArray(source)) return Uint8Array.from(source);
  if (!ArrayBuffer.isView(source)) return new Uint8Array(source);
  return new Uint8Array(/** @type {ArrayBuffer} */ (source.buffer), source.byteOffset, source.byteLength);
}

/**
 * @param {BufferSource | number[]} source
 * @returns {string}
 */
export function toBase64(source) {
  const bytes = bytesOf(source);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

/**
 * @param {BufferSource | number[]} source
 * @returns {string} without padding (RFC 4648, section 5)
 */
export function toBase64url(source) {
  return toBase64(source).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * Decodes base64 or base64url, with or without padding.
 *
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 * @throws {TypeError} not base64
 */
export function fromBase64(text) {
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  } catch (cause) {
    throw new TypeError("the text is not base64", { cause });
  }
}

/**
 * @param {BufferSource | number[]} source
 * @returns {string} 0x-prefixed, lower case
 */
export function toHex(source) {
  return "0x" + Array.from(bytesOf(source), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {string} text hex digits, with or without 0x
 * @returns {Uint8Array<ArrayBuffer>}
 * @throws {TypeError} not hex
 */
export function fromHex(text) {
  const digits = text.replace(/^0x/i, "");
  if (digits.length % 2 || !/^[0-9a-f]*$/i.test(digits)) throw new TypeError("the text is not hexadecimal");
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/**
 * @param {number} length
 * @returns {Uint8Array<ArrayBuffer>} from the browser's cryptographic generator
 */
export function randomBytes(length) {
  return crypto.getRandomValues(new Uint8Array(length));
}

/**
 * @param {Uint8Array[]} parts
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {Uint8Array} one @param {Uint8Array} other */
export function isSame(one, other) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

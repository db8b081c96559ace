/** Reads and writes messages on a byte stream, each as a four-byte big-endian length and then the message as JSON. */

/** The longest message, in bytes, as in the Python client. */
export const MAX_MESSAGE_BYTES = 48 * 1024 * 1024;
const HEAD = 4;

/**
 * @param {Record<string, any>} message
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function frame(message) {
  const body = new TextEncoder().encode(JSON.stringify(message));
  const bytes = new Uint8Array(HEAD + body.length);
  new DataView(bytes.buffer).setUint32(0, body.length);
  bytes.set(body, HEAD);
  return bytes;
}

/**
 * Yields the messages that a stream contains.
 *
 * @param {AsyncIterable<{subarray(): Uint8Array} | Uint8Array>} chunks
 * @returns {AsyncGenerator<Record<string, any>, void>}
 * @throws {Error} the stream ends within a message, or a message is too long or not a JSON object
 */
export async function* messagesOf(chunks) {
  let held = new Uint8Array();
  for await (const chunk of chunks) {
    held = joined(held, chunk.subarray());
    while (held.length >= HEAD) {
      const length = new DataView(held.buffer, held.byteOffset).getUint32(0);
      if (length > MAX_MESSAGE_BYTES) throw new Error("a message is too long");
      if (held.length < HEAD + length) break;
      yield read(held.subarray(HEAD, HEAD + length));
      held = held.slice(HEAD + length);
    }
  }
  if (held.length > 0) throw new Error("the other device closed the connection");
}

/**
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 */
function joined(one, other) {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** @param {Uint8Array} body */
function read(body) {
  const message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  if (typeof message !== "object" || message === null || Array.isArray(message))
    throw new Error("a message is not an object");
  return message;
}

/** Reads and writes messages on a byte stream, each as a four-byte big-endian length and then the message as JSON. */

/** The longest message, in bytes, as in the Python client. */
export const MAX_MESSAGE_BYTES = 48 * 1024 * 1024;
const HEAD = 4;

export type Message = Record<string, unknown>;

export function frame(message: Message): Uint8Array<ArrayBuffer> {
  const body = new TextEncoder().encode(JSON.stringify(message));
  const bytes = new Uint8Array(HEAD + body.length);
  new DataView(bytes.buffer).setUint32(0, body.length);
  bytes.set(body, HEAD);
  return bytes;
}

/**
 * Yields the messages that a stream contains.
 *
 * @throws {Error} the stream ends within a message, or a message is too long or not a JSON object
 */
export async function* messagesOf(
  chunks: AsyncIterable<{ subarray(): Uint8Array } | Uint8Array>,
): AsyncGenerator<Message, void> {
  let [held, filled] = [new Uint8Array(HEAD), 0];
  for await (const chunk of chunks) {
    for (let rest = chunk.subarray(); rest.length > 0;) {
      const taken = rest.subarray(0, held.length - filled);
      held.set(taken, filled);
      [filled, rest] = [filled + taken.length, rest.subarray(taken.length)];
      if (filled === HEAD && held.length === HEAD) held = withRoom(held);
      if (filled < held.length) continue;
      yield read(held.subarray(HEAD));
      [held, filled] = [new Uint8Array(HEAD), 0];
    }
  }
  if (filled > 0) throw new Error("the other device closed the connection");
}

/** Returns the head of a message with room for its body. */
function withRoom(head: Uint8Array<ArrayBuffer>) {
  const length = new DataView(head.buffer).getUint32(0);
  if (length > MAX_MESSAGE_BYTES) throw new Error("a message is too long");
  const whole = new Uint8Array(HEAD + length);
  whole.set(head);
  return whole;
}

function read(body: Uint8Array) {
  const message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  if (typeof message !== "object" || message === null || Array.isArray(message))
    throw new Error("a message is not an object");
  return message;
}

/** The messages between an application's page and the connect page, as listed in docs/connect.md. */

/** The protocol's name and version, included in every message. Both sides ignore messages in any other protocol. */
export const PROTOCOL = "connect/1";
/** How long a request is valid, in seconds. */
export const LASTS_S = 600;
/** The interval at which the popup reports that it is ready, and the period for which it does so. */
export const READY_EVERY_MS = 250;
export const READY_FOR_MS = 10_000;
/** The time within which the application must answer a ping. */
export const PONG_MS = 2_000;

export type Message = Record<string, unknown>;

/** @returns 128 random bits */
export function token(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Returns a message's fields if the message belongs to this protocol.
 *
 * @returns empty for anything else
 */
export function fieldsOf(data: unknown): Message {
  const fields = data as Message | null;
  return typeof fields === "object" && fields !== null && fields.holdfast === PROTOCOL ? fields : {};
}

/** Encodes a message as a URL fragment. */
export function inFragment(message: object) {
  return `#holdfast=${encodeURIComponent(JSON.stringify(message))}`;
}

/**
 * @param hash of a location
 * @returns empty if the fragment has no message
 */
export function fromFragment(hash: string): Message {
  const found = /^#holdfast=(.+)$/.exec(hash);
  try {
    return found ? fieldsOf(JSON.parse(decodeURIComponent(found[1]))) : {};
  } catch {
    return {};
  }
}

/**
 * Pairing of devices over libp2p. A browser cannot accept connections, so it dials a host: the other device itself, or
 * a host to which both devices connect (docs/pairing.md).
 */

import "../core.js";
import { randomBytes, toBase64url } from "../bytes.js";
import { NetworkError } from "../errors.js";
import { PairingServer, SyncRefused, receive } from "./protocol.js";

export { PairingServer, SyncRefused, receive };

const SYNC = "/holdfast/sync/1.0.0";
const MEET = "/holdfast/sync/meet/1.0.0";
const NAME_BYTES = 16;
/** How long a pairing lasts. */
const LIFE_MS = 300_000;
const SILENT = "the other device does not answer";

/**
 * @typedef {import("./libp2p.js").Link} Link
 * @typedef {import("./libp2p.js").Message} Message
 * @typedef {import("../vault/vault.js").Vault} Vault
 */

/**
 * Loads libp2p and connects to a host. The vault's boot status reports whether libp2p could be loaded.
 *
 * @param {Vault} vault
 * @param {string} address a WebSocket multiaddress that ends with the host's peer ID
 * @param {string} [bundle] where libp2p's module is; next to this one by default
 * @returns {Promise<Link>}
 * @throws {NetworkError} libp2p cannot be loaded, the address is not one, or the host does not respond
 */
export async function linkTo(vault, address, bundle = new URL("./libp2p.js", import.meta.url).href) {
  /** @type {typeof import("./libp2p.js") | null} */
  let loaded = null;
  await reached(
    "libp2p could not be loaded",
    vault.start("libp2p", async () => (loaded = await import(bundle))),
  );
  const { connect } = /** @type {typeof import("./libp2p.js")} */ (/** @type {unknown} */ (loaded));
  const link = await reached(SILENT, connect(address));
  return {
    ...link,
    ask: (protocol, message) => reached(SILENT, inLife(link.ask(protocol, message))),
    answer: (protocol, first, handle) => answered(link, protocol, first, handle),
  };
}

/**
 * Replies to the host's messages. What `handle` throws is thrown as it is; what libp2p throws is turned into the
 * documented error.
 *
 * @type {(link: Link, ...rest: Parameters<Link["answer"]>) => Promise<void>}
 */
async function answered(link, protocol, first, handle) {
  const refusals = new Set();
  const noting = (/** @type {Message} */ message) =>
    handle(message).catch((error) => {
      refusals.add(error);
      throw error;
    });
  await link.answer(protocol, first, noting).catch((error) => {
    throw refusals.has(error) ? error : new NetworkError(SILENT, { cause: error });
  });
}

/**
 * Turns what libp2p throws, such as a DOM event, into the documented error.
 *
 * @template T
 * @param {string} why
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
function reached(why, work) {
  return work.catch((cause) => {
    throw new NetworkError(why, { cause });
  });
}

/**
 * Waits for `work` as long as a pairing lasts: a host that sends a byte now and then never meets another time limit.
 *
 * @template T
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
function inLife(work) {
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("the pairing took too long")), LIFE_MS);
  });
  return Promise.race([work, /** @type {Promise<never>} */ (late)]).finally(() => clearTimeout(timer));
}

/** Creates the secret name of a meeting, by which two devices find each other at a host. */
export function newMeeting() {
  return toBase64url(randomBytes(NAME_BYTES));
}

/**
 * Returns the new device's channel to the device that holds the vault, either direct or through a meeting at a
 * host.
 *
 * @param {Link} link
 * @param {string} [meeting]
 * @returns {(message: Message) => Promise<Message>}
 */
export function asker(link, meeting = "") {
  return meeting ? (message) => link.ask(MEET, { meeting, message }) : (message) => link.ask(SYNC, message);
}

/**
 * Waits at a meeting for the new device, and sends the vault to it.
 *
 * @param {Link} link
 * @param {string} meeting
 * @param {PairingServer} server
 * @param {() => void} [onWaiting] called when the host has registered the meeting
 * @throws {SyncRefused} the vault was not sent
 */
export async function giveAt(link, meeting, server, onWaiting = () => {}) {
  await link.answer(MEET, { meeting, gives: true }, async (message) => {
    if (message.waiting) return (onWaiting(), {});
    if (message.error) throw new SyncRefused("the host accepts no more meetings");
    return { answer: await server.handle(message), last: server.finished };
  });
  if (!server.released) throw new SyncRefused("the vault was not sent");
}

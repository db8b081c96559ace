/**
 * Pairing of devices over libp2p. A browser cannot accept connections, so it dials a host: the other device itself, or
 * a host to which both devices connect (docs/pairing.md).
 */

import "../core.ts";
import { randomBytes, toBase64url } from "../bytes.ts";
import { NetworkError } from "../errors.ts";
import type { Vault } from "../vault/vault.ts";
import type { Message } from "./frames.ts";
import type { Link } from "./libp2p.ts";
import { PairingServer, SyncRefused, receive } from "./protocol.ts";

export type { Message } from "./frames.ts";
export type { Link } from "./libp2p.ts";
export type { Vault } from "../vault/vault.ts";

export { PairingServer, SyncRefused, receive };

const SYNC = "/holdfast/sync/1.0.0";
const MEET = "/holdfast/sync/meet/1.0.0";
const NAME_BYTES = 16;
/** How long a pairing lasts. */
const LIFE_MS = 300_000;
const SILENT = "the other device does not answer";

/**
 * Loads libp2p and connects to a host. The vault's boot status reports whether libp2p could be loaded.
 *
 * @param address a WebSocket multiaddress that ends with the host's peer ID
 * @param bundle where libp2p's module is; next to this one by default
 * @throws {NetworkError} libp2p cannot be loaded, the address is not one, or the host does not respond
 */
export async function linkTo(
  vault: Vault,
  address: string,
  bundle: string = new URL("./libp2p.js", import.meta.url).href,
): Promise<Link> {
  let loaded: typeof import("./libp2p.ts") | null = null;
  await reached(
    "libp2p could not be loaded",
    vault.start("libp2p", async () => (loaded = await import(bundle))),
  );
  const { connect } = loaded as unknown as typeof import("./libp2p.ts");
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
 */
async function answered(link: Link, ...[protocol, first, handle]: Parameters<Link["answer"]>): Promise<void> {
  const refusals = new Set();
  const noting = (message: Message) =>
    handle(message).catch((error) => {
      refusals.add(error);
      throw error;
    });
  await link.answer(protocol, first, noting).catch((error) => {
    throw refusals.has(error) ? error : new NetworkError(SILENT, { cause: error });
  });
}

/** Turns what libp2p throws, such as a DOM event, into the documented error. */
function reached<T>(why: string, work: Promise<T>): Promise<T> {
  return work.catch((cause) => {
    throw new NetworkError(why, { cause });
  });
}

/**
 * Waits for `work` as long as a pairing lasts: a host that sends a byte now and then never meets another time limit.
 */
function inLife<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("the pairing took too long")), LIFE_MS);
  });
  return Promise.race([work, late as Promise<never>]).finally(() => clearTimeout(timer));
}

/** Creates the secret name of a meeting, by which two devices find each other at a host. */
export function newMeeting() {
  return toBase64url(randomBytes(NAME_BYTES));
}

/**
 * Returns the new device's channel to the device that holds the vault, either direct or through a meeting at a
 * host.
 */
export function asker(link: Link, meeting: string = ""): (message: Message) => Promise<Message> {
  return meeting ? (message) => link.ask(MEET, { meeting, message }) : (message) => link.ask(SYNC, message);
}

/**
 * Waits at a meeting for the new device, and sends the vault to it.
 *
 * @param onWaiting called when the host has registered the meeting
 * @throws {SyncRefused} the vault was not sent
 */
export async function giveAt(link: Link, meeting: string, server: PairingServer, onWaiting: () => void = () => {}) {
  const given = link.answer(MEET, { meeting, gives: true }, async (message) => {
    if (message.waiting) return (onWaiting(), {});
    if (message.error) throw new SyncRefused("the host accepts no more meetings");
    return { answer: await server.handle(message), last: server.finished };
  });
  await given.catch((error) => {
    if (!server.finished || server.released) throw error; // or else nothing was lost
  });
  if (!server.released) throw new SyncRefused("the vault was not sent");
}

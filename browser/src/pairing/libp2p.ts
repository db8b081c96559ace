/** Connects to a host with libp2p over WebSockets. Noise proves the peer ID in the host's address. */

import { noise } from "@chainsafe/libp2p-noise";
import { yamux } from "@chainsafe/libp2p-yamux";
import type { Stream } from "@libp2p/interface";
import { webSockets } from "@libp2p/websockets";
import { multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { frame, type Message, messagesOf } from "./frames.ts";

/** How long a pairing lasts. */
const LIFE_MS = 300_000;
const CHUNK = 32 * 1024;

/**
 * to one host; `ask` sends a message on a separate stream and returns the reply; `answer` sends `first` and then
 * replies to each message, until the stream ends or `last` is true
 */
export type Link = {
  ask: (protocol: string, message: Message) => Promise<Message>;
  answer: (
    protocol: string,
    first: Message,
    handle: (message: Message) => Promise<{ answer?: Message; last?: boolean }>,
  ) => Promise<void>;
  end: () => Promise<void>;
};

/**
 * Connects to a host.
 *
 * @param address a WebSocket multiaddress that ends with the host's peer ID
 */
export async function connect(address: string): Promise<Link> {
  const host = multiaddr(address);
  const node = await createLibp2p({
    transports: [webSockets()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    // It ends a connection whose peer is silent for seconds, while the person compares the digits.
    connectionMonitor: { enabled: false },
    // The person often enters a loopback address, which the default connection gater would refuse.
    connectionGater: { denyDialMultiaddr: () => false },
  });
  await node.dial(host).catch(async (error) => {
    await node.stop(); // its timers would go on
    throw error;
  });
  const opened = (protocol: string) => node.dialProtocol(host, protocol);
  return {
    end: () => Promise.resolve(node.stop()),
    async ask(protocol, message) {
      const stream = await opened(protocol);
      await sent(stream, message);
      const { value } = await messagesOf(stream).next();
      if (!value) throw new Error("the other device closed the connection");
      await stream.close();
      return value;
    },
    async answer(protocol, first, handle) {
      const stream = await opened(protocol);
      await sent(stream, first);
      for await (const message of messagesOf(stream)) {
        const { answer, last } = await handle(message);
        if (answer) await sent(stream, answer);
        if (last) return ended(stream);
      }
      await stream.close();
    },
  };
}

/**
 * Waits until the other side has ended the stream too, which it does after it has taken everything.
 *
 * @throws the connection breaks before, or the other side does not end the stream
 */
async function ended(stream: Stream) {
  const end = new Promise<void>((resolve, reject) => {
    stream.addEventListener("remoteCloseWrite", () => resolve(), { once: true });
    stream.addEventListener("close", reject, { once: true });
  });
  const late = setTimeout(() => stream.abort(new Error("the stream does not end")), LIFE_MS);
  await Promise.all([stream.close(), end]).finally(() => clearTimeout(late));
}

async function sent(stream: Stream, message: Message) {
  const bytes = frame(message);
  for (let at = 0; at < bytes.length; at += CHUNK) {
    if (!stream.send(bytes.subarray(at, at + CHUNK))) await stream.onDrain();
  }
}

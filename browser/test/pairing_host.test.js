/** A device that gave its vault says so only after a real host has passed everything on. */

import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { test } from "node:test";

import "./dom.js";
import { noise } from "@chainsafe/libp2p-noise";
import { yamux } from "@chainsafe/libp2p-yamux";
import { webSockets } from "@libp2p/websockets";
import { createLibp2p } from "libp2p";
import { NetworkError } from "../src/errors.ts";
import { frame, messagesOf } from "../src/pairing/frames.ts";
import { SyncRefused, giveAt, linkTo } from "../src/pairing/pairing.ts";

const LIBP2P = new URL("../src/pairing/libp2p.ts", import.meta.url).href;
const vault = { start: (_subsystem, work) => work() };

/** A host that asks the waiting device once and then does what `after` says. */
async function host(context, after) {
  const node = await createLibp2p({
    addresses: { listen: ["/ip4/127.0.0.1/tcp/0/ws"] },
    transports: [webSockets()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
  });
  context.after(() => node.stop());
  await node.handle("/holdfast/sync/meet/1.0.0", async (stream, connection) => {
    const messages = messagesOf(stream);
    await messages.next();
    stream.send(frame({ step: "reveal" }));
    await messages.next();
    await after(stream, connection);
  });
  return node.getMultiaddrs()[0].toString();
}

/** The pairing's end: its one answer is its last. */
async function given(address, released = true) {
  const link = await linkTo(vault, address, LIBP2P);
  const server = { finished: false, released: false };
  server.handle = async () => (Object.assign(server, { finished: true, released }), { encrypted_vault: "c2VhbGVk" });
  try {
    await giveAt(link, "a meeting's name", server);
  } finally {
    await link.end();
  }
}

test("the host ends the stream, so the vault has arrived", async (context) => {
  let hasPassedOn = false;
  const address = await host(context, async (stream) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    hasPassedOn = true;
    await stream.close();
  });
  await given(address);
  assert(hasPassedOn);
});

test("the vault has not arrived if the host resets the stream", async (context) => {
  const address = await host(context, (stream) => stream.abort(new Error("reset")));
  await assert.rejects(given(address), NetworkError);
});

test("the vault has not arrived if the connection breaks", async (context) => {
  const sockets = [];
  const address = await host(context, () => sockets.forEach((socket) => socket.destroy()));
  const [, port] = /tcp\/(\d+)/.exec(address);
  const between = createServer((socket) => {
    const rest = connect(Number(port), "127.0.0.1");
    sockets.push(socket, rest);
    socket.pipe(rest).pipe(socket);
  }).listen(0, "127.0.0.1");
  context.after(() => between.close());
  await new Promise((resolve) => between.once("listening", resolve));
  await assert.rejects(given(address.replace(port, between.address().port)), NetworkError);
});

test("a host that does not end the stream is not waited for longer than a pairing lasts", async (context) => {
  const soon = setTimeout;
  const address = await host(context, () => {});
  context.mock.method(globalThis, "setTimeout", (work, ms, ...more) => soon(work, ms === 300_000 ? 1 : ms, ...more));
  await assert.rejects(given(address), NetworkError);
});

test("a refusal that the host did not wait for is told as a refusal", async (context) => {
  const address = await host(context, (stream) => stream.abort(new Error("reset")));
  await assert.rejects(given(address, false), SyncRefused);
});

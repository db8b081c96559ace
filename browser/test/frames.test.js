/** Messages of a pairing are read in whatever pieces they arrive. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_MESSAGE_BYTES, frame, messagesOf } from "../src/pairing/frames.ts";

const [ONE, OTHER] = [{ step: "hello" }, { text: "ä".repeat(50_000) }];
const head = (length) => new Uint8Array(new Uint32Array([length]).buffer).toReversed();

/** Both messages in pieces of this size. */
function* pieces(size) {
  const bytes = Uint8Array.from([...frame(ONE), ...frame(OTHER)]);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

for (const size of [1, 3, 4, 5, 4096, 1 << 20])
  test(`pieces of ${size} bytes, each copied once`, async (context) => {
    const sent = [...pieces(size)];
    const set = context.mock.method(Uint8Array.prototype, "set");
    const found = await Array.fromAsync(messagesOf(sent));
    const copied = set.mock.calls.reduce((sum, { arguments: [part] }) => sum + part.length, 0);
    context.mock.restoreAll();
    assert.deepEqual(found, [ONE, OTHER]);
    assert.ok(copied <= sent.reduce((sum, it) => sum + it.length, 0) + 8, String(copied));
  });

for (const [name, bytes, message] of [
  ["a message that is cut off", frame(ONE).subarray(0, 9), /closed the connection/],
  ["half a head", head(5).subarray(0, 3), /closed the connection/],
  ["a message without bytes", head(0), SyntaxError],
  ["a message that is too long", head(MAX_MESSAGE_BYTES + 1), /too long/],
  ["a list", Uint8Array.from([...head(2), 0x5b, 0x5d]), /not an object/],
  ["bytes that are not UTF-8", Uint8Array.from([...head(1), 0xff]), TypeError],
])
  test(name, () => assert.rejects(Array.fromAsync(messagesOf([bytes])), message));

/**
 * The window of the new service: makes a passkey for the vault of the page that opened it. It gives away the secret of that
 * new passkey only, which opens nothing else, and never uses one that the person already has.
 */

import { fromHex, joined, randomBytes } from "../../bytes.ts";
import type { MadePasskey } from "../../flows/move.ts";
import { createPasskey, passkeyKey, usePasskey } from "../library.ts";
import { text } from "../parts/language.ts";
import { ignoreStrayClicks } from "../../kit/stray_clicks.ts";
import { button, buttons, el, paragraph, type Press } from "../parts/nodes.ts";
import { run, show } from "../parts/screen.ts";
import { requestOf, type Wanted } from "./messages.ts";

const PUBLIC_KEY_BYTES = 32;
const NAME = /^[\p{L}\p{N}@+._ -]{1,320}$/u;

export async function make(opener: Window | null) {
  const none = () =>
    show({ name: "move-none", heading: text("move.make"), redraw: none, body: [paragraph("move.make.none")] });
  none();
  if (!opener || window.top !== window) return;
  const { origin, wanted, answer } = await requestOf(opener);
  if (NAME.test(wanted.name)) screen(origin, wanted, answer);
}

function screen(origin: string, wanted: Wanted, answer: (made: MadePasskey) => void) {
  const { host } = location;
  const press = (event: Press) =>
    run(event.currentTarget, async () => {
      answer(await passkeyFor(wanted));
      done(origin);
    });
  const yes = button(text("move.make.do", { host }), press, { kind: "main", name: "make" });
  const signal = show({
    name: "move-make",
    heading: text("move.make"),
    redraw: () => screen(origin, wanted, answer),
    body: [
      el("p", { class: "asker" }, text("move.make.asker"), " ", el("strong", { "data-name": "origin" }, origin)),
      paragraph("move.make.text", { origin, host, name: wanted.name }, "notice"),
      buttons(yes),
    ],
  });
  ignoreStrayClicks(yes);
  addEventListener("focus", () => ignoreStrayClicks(yes), { signal });
}

/** The user handle is new each time: a passkey replaces one with the same handle, and any page can ask for one. */
async function passkeyFor({ name, userHandle: publishingKey, challenge }: Wanted): Promise<MadePasskey> {
  const userHandle = joined([fromHex(publishingKey).slice(0, PUBLIC_KEY_BYTES), randomBytes(PUBLIC_KEY_BYTES)]);
  const { credential, credentialId } = await createPasskey({ userName: name, userHandle });
  const used = await usePasskey({ credentialIds: [credentialId], challenge });
  const key = (await passkeyKey(used)) as { secret: ArrayBuffer };
  return { credential, credentialId, assertion: used.assertion, secret: new Uint8Array(key.secret) };
}

function done(origin: string) {
  show({
    name: "move-made",
    heading: text("move.make"),
    redraw: () => done(origin),
    body: [paragraph("move.make.done", { origin })],
  });
  window.close();
}

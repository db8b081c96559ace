/**
 * The window of the new service: makes a passkey for the vault of the page that opened it. It gives away the secret of that
 * new passkey only, which opens nothing else, and never uses one that the person already has.
 */

import { fromHex } from "../../bytes.js";
import { createPasskey, passkeyKey, usePasskey } from "../library.js";
import { text } from "../parts/language.js";
import { button, buttons, el, paragraph } from "../parts/nodes.js";
import { run, show } from "../parts/screen.js";
import { requestOf } from "./messages.js";

const NAME = /^[\p{L}\p{N}@+._ -]{1,320}$/u;

/** @param {Window | null} opener */
export async function make(opener) {
  const none = () =>
    show({ name: "move-none", heading: text("move.make"), redraw: none, body: [paragraph("move.make.none")] });
  none();
  if (!opener || window.top !== window) return;
  const { origin, wanted, answer } = await requestOf(opener);
  if (NAME.test(wanted.name)) screen(origin, wanted, answer);
}

/**
 * @param {string} origin
 * @param {import("./messages.js").Wanted} wanted
 * @param {(made: import("./messages.js").MadePasskey) => void} answer
 */
function screen(origin, wanted, answer) {
  const { host } = location;
  const press = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), async () => {
      answer(await passkeyFor(wanted));
      done(origin);
    });
  show({
    name: "move-make",
    heading: text("move.make"),
    redraw: () => screen(origin, wanted, answer),
    body: [
      el("p", { class: "asker" }, text("move.make.asker"), " ", el("strong", { "data-name": "origin" }, origin)),
      paragraph("move.make.text", { origin, host, name: wanted.name }, "notice"),
      buttons(button(text("move.make.do", { host }), press, { kind: "main", name: "make" })),
    ],
  });
}

/** @param {import("./messages.js").Wanted} wanted @returns {Promise<import("./messages.js").MadePasskey>} */
async function passkeyFor({ name, userHandle, challenge }) {
  const { credential, credentialId } = await createPasskey({ userName: name, userHandle: fromHex(userHandle) });
  const used = await usePasskey({ credentialIds: [credentialId], challenge });
  const key = /** @type {{secret: ArrayBuffer}} */ (await passkeyKey(used));
  return { credential, credentialId, assertion: used.assertion, secret: new Uint8Array(key.secret) };
}

/** @param {string} origin */
function done(origin) {
  show({
    name: "move-made",
    heading: text("move.make"),
    redraw: () => done(origin),
    body: [paragraph("move.make.done", { origin })],
  });
  window.close();
}

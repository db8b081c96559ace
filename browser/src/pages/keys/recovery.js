/** What the pages say while a recovery of the account is under way, and what stops or finishes it. */

import "./texts.js";
import { moment, text } from "../parts/language.js";
import { button, el, paragraph } from "../parts/nodes.js";
import { go } from "../parts/router.js";
import { run } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { isAlone, keyList } from "./asking.js";

/** @typedef {import("../../account/reads.js").Recovery} Recovery */

/**
 * Returns the notice of a recovery, with the button that stops it: a warning with all new owners, unless this vault's key
 * becomes the only owner.
 *
 * @param {Recovery} recovery
 * @param {string} own the signer of the vault's key
 * @param {import("./people.js").Namer} named
 */
export function notice({ readyAt, newOwners }, own, named) {
  const time = moment(readyAt * 1000);
  const isMine = isAlone(newOwners, own);
  return el(
    "section",
    { class: "notice", "data-name": "takeover" },
    el("h2", {}, text(isMine ? "keys.mine" : "keys.takeover")),
    paragraph(isMine ? "keys.mine.text" : "keys.takeover.text", { time }),
    !isMine && paragraph(newOwners ? "keys.takeover.owners" : "keys.takeover.unknown"),
    !isMine && newOwners?.includes(own) && paragraph("keys.takeover.shared"),
    !isMine && newOwners && keyList(newOwners, named),
    el("div", { class: "buttons" }, button(text("keys.stop"), stop, { kind: isMine ? "" : "bad", name: "stop" })),
  );
}

/** @param {Event} event */
function stop(event) {
  const work = async () => {
    await (await (await ready()).accountKeys()).cancelRecovery();
    await go("home", { said: text("keys.stopped") });
  };
  return run(/** @type {HTMLElement} */ (event.currentTarget), work, text("working"));
}

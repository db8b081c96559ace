/** What the screen for leaving gets from the pages, because a file that it imported too would be one more request. */

import { meta } from "../../kit/meta.js";
import { confirmed } from "../parts/dialog.js";
import { text } from "../parts/language.js";
import { about, button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.js";
import { setVaultOf, unmarkVault } from "../parts/notes.js";
import { go } from "../parts/router.js";
import { SERVICE, preparing, run, say, show } from "../parts/screen.js";
import { ready } from "../parts/vault_client.js";
import { card } from "../vault/card.js";

const PARTS = {
  SERVICE,
  about,
  button,
  buttons,
  confirmed,
  el,
  field,
  form,
  go,
  meta,
  paragraph,
  preparing,
  ready,
  run,
  say,
  setVaultOf,
  show,
  submit,
  text,
  unmarkVault,
};

/** @typedef {typeof PARTS} Parts */

/** The card that leads to the screen. */
export function leaveCard() {
  const open = (/** @type {Event} */ event) =>
    run(/** @type {HTMLElement} */ (event.currentTarget), () => go("leave"), text("working"));
  return card(
    "leave",
    text("leave.heading"),
    paragraph("leave.lead", { name: SERVICE }),
    el("div", { class: "buttons" }, button(text("leave.open"), open, { kind: "plain", name: "leave" })),
  );
}

/**
 * Loads the screen and shows it.
 *
 * @param {{said?: string}} [how] `said`: what happened just now
 */
export async function leave(how) {
  const { leave: shown } = await import("./screen.js");
  await shown(PARTS, how);
}

/**
 * Adds a proven address to the vault's DID.
 *
 * @param {import("../register/prove.js").Proving} row
 */
export async function addressProven({ attestation, identifier }) {
  const client = await ready();
  await client.addAddress(/** @type {import("../../generated/types.js").Attestation} */ (attestation));
  await leave({ said: text("leave.added", { identifier }) });
}

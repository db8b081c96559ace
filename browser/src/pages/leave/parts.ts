/** What the screen for leaving gets from the pages, because a file that it imported too would be one more request. */

import type { Attestation } from "../../generated/types.ts";
import { meta } from "../../kit/meta.ts";
import { confirmed } from "../parts/dialog.ts";
import { text } from "../parts/language.ts";
import { about, button, buttons, el, field, form, paragraph, submit } from "../parts/nodes.ts";
import { setVaultOf, unmarkVault } from "../parts/notes.ts";
import { go, opening } from "../parts/router.ts";
import { SERVICE, preparing, run, say, show } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import type { Proving } from "../register/prove.ts";
import { card } from "../vault/card.ts";

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

export type Parts = typeof PARTS;

/** The card that leads to the screen. */
export function leaveCard() {
  return card(
    "leave",
    text("leave.heading"),
    paragraph("leave.lead", { name: SERVICE }),
    el("div", { class: "buttons" }, button(text("leave.open"), opening("leave"), { kind: "plain", name: "leave" })),
  );
}

/**
 * Loads the screen and shows it.
 *
 * @param how `said`: what happened just now
 */
export async function leave(how?: { said?: string }) {
  const { leave: shown } = await import("./screen.ts");
  await shown(PARTS, how);
}

/** Adds a proven address to the vault's DID. */
export async function addressProven({ attestation, identifier }: Proving) {
  const client = await ready();
  await client.addAddress(attestation as Attestation);
  await leave({ said: text("leave.added", { identifier }) });
}

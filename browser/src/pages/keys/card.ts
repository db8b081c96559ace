/** The card that leads to the keys of the account, and the notice while someone takes the account over. */

import { text } from "../parts/language.ts";
import { button, el, paragraph } from "../parts/nodes.ts";
import { go } from "../parts/router.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "../vault/card.ts";

export function keysCard() {
  return card(
    "keys",
    text("keys.heading"),
    paragraph("keys.card"),
    el(
      "div",
      { class: "buttons" },
      button(text("keys.open"), () => go("keys"), { name: "keys" }),
    ),
  );
}

/** A place in which a notice appears if a recovery of the account is under way, which only the chain knows. */
export function takeover() {
  const container = el("div");
  void ready()
    .then((client) => client.accountKeys())
    .then(async (keys) => {
      const recovery = await keys.recovery();
      if (recovery) await go("keys-notice", { container, recovery, own: await keys.signer() });
    })
    .catch(() => {}); // a service without a chain, or no connection: the account's card says so
  return container;
}

/** The card that leads to the keys of the account, and the notice while someone takes the account over. */

import type { ServedChain } from "../../generated/types.ts";
import type { Client } from "../library.ts";
import { text } from "../parts/language.ts";
import { button, el, paragraph } from "../parts/nodes.ts";
import { go, opening } from "../parts/router.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "../vault/card.ts";

export function keysCard() {
  return card(
    "keys",
    text("keys.heading"),
    paragraph("keys.card"),
    el("div", { class: "buttons" }, button(text("keys.open"), opening("keys"), { name: "keys" })),
  );
}

/**
 * A place in which a notice appears for each recovery of the account that is under way, which only its chain knows: what
 * guardians sign counts on all chains, and is stopped on one.
 */
export function takeover() {
  const container = el("div");
  const noticed = async (client: Client, chain: ServedChain) => {
    const keys = await client.accountKeys(undefined, chain.chainId);
    const recovery = await keys.recovery();
    if (recovery) await go("keys-notice", { container, recovery, own: await keys.signer(), chain });
  };
  // A service without a chain, or no connection: the account's card says so.
  void ready()
    .then(async (client) => {
      for (const chain of await chainsOfChanges(client)) void noticed(client, chain).catch(() => {});
    })
    .catch(() => {});
  return container;
}

/** Returns the service's chains on which it can change accounts, the main chain first. */
export async function chainsOfChanges(client: Client): Promise<ServedChain[]> {
  return (await client.chains()).chains.filter(({ main, payments }) => main || payments);
}

/** The card that shows the DID and the registered name, and offers to register a vault that is not registered. */

import type { DidRecord } from "../../generated/types.ts";
import { copyButton } from "../parts/copy.ts";
import { text } from "../parts/language.ts";
import { about, button, buttons, el, paragraph, type Press } from "../parts/nodes.ts";
import { formOf } from "../parts/handle_forms.ts";
import { go, opening } from "../parts/router.ts";
import { run } from "../parts/screen.ts";
import { ready } from "../parts/vault_client.ts";
import { card } from "./card.ts";
import type { Facts } from "./home.ts";

const NOWHERE = /^0x0+$/;

/** @param changed called when the registration has a transaction */
export function identityCard(known: Facts, changed: () => Promise<unknown>) {
  const { did, name, record } = known;
  return card(
    "identity",
    text("vault.identity"),
    ...(record ? [paragraph("vault.name", { identifier: name }), ...expiry(record, changed)] : unregistered(known)),
    el("h3", {}, text("vault.did")),
    el("p", { class: "mono", "data-name": "did" }, did),
    el(
      "div",
      { class: "buttons" },
      about(copyButton(did), text("vault.did")),
      button(text("vault.did.open"), opening("identity"), { kind: "plain", name: "identity" }),
    ),
  );
}

/** What may still end the registration. */
function expiry(record: DidRecord, changed: () => Promise<unknown>) {
  const { txHash, blockNumber } = record;
  if (NOWHERE.test(txHash)) return [paragraph("vault.offchain", {}, "small"), again(record, changed)];
  return blockNumber === null ? [paragraph("vault.unconfirmed", {}, "small")] : [];
}

/** Registers again on the chain, which is shown once it is known that the service has a bundler. */
function again({ channel, identifier }: DidRecord, changed: () => Promise<unknown>) {
  const register = async () => {
    await (await ready()).register({ [channel]: identifier });
    await changed();
  };
  const pressed = (event: Press) => run(event.currentTarget, register, text("working"));
  const shown = buttons(button(text("vault.register.again"), pressed, { name: "onto-chain" }));
  shown.hidden = true;
  const show = () => (shown.hidden = false);
  void ready().then((client) => client.bundler("eth_supportedEntryPoints").then(show, () => {}));
  return shown;
}

/** The registration may have been refused by the chain, for example because its transaction was dropped. */
function unregistered({ did, name, credentials, unregistered }: Facts) {
  if (unregistered.length < credentials.length) return [paragraph("vault.registration.unknown")];
  const form = formOf(name);
  const channel = form === "email" ? "email" : form === "phone" ? "sms" : "handle";
  // The newest: after a move, the older ones are a former service's.
  const register = () => go("choose", { did, credentialId: credentials.at(-1)?.credential_id, channel, typed: name });
  const label = text(name ? "vault.register.again" : "none.register");
  return [
    paragraph("vault.unregistered"),
    el("div", { class: "buttons" }, button(label, register, { name: "register" })),
  ];
}

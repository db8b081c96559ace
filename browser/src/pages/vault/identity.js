/** The card that shows the DID and the registered name, and offers to register a vault that is not registered. */

import { copyButton } from "../parts/copy.js";
import { text } from "../parts/language.js";
import { about, button, el, paragraph } from "../parts/nodes.js";
import { formOf } from "../parts/handle_forms.js";
import { go } from "../parts/router.js";
import { card } from "./card.js";

const NOWHERE = /^0x0+$/;

/** @param {import("./home.js").Facts} known */
export function identityCard(known) {
  const { did, name, record } = known;
  return card(
    "identity",
    text("vault.identity"),
    ...(record ? [paragraph("vault.name", { identifier: name }), ...expiry(record)] : unregistered(known)),
    el("h3", {}, text("vault.did")),
    el("p", { class: "mono", "data-name": "did" }, did),
    el("div", { class: "buttons" }, about(copyButton(did), text("vault.did"))),
  );
}

/** What may still end the registration. @param {import("../library.js").DidRecord} record */
function expiry({ txHash, blockNumber }) {
  if (NOWHERE.test(txHash)) return [paragraph("vault.offchain", {}, "small")];
  return blockNumber === null ? [paragraph("vault.unconfirmed", {}, "small")] : [];
}

/**
 * The registration may have been refused by the chain, for example because its transaction was dropped.
 *
 * @param {import("./home.js").Facts} known
 */
function unregistered({ did, name, credentials, unregistered }) {
  if (unregistered.length < credentials.length) return [paragraph("vault.registration.unknown")];
  const form = formOf(name);
  const channel = form === "email" ? "email" : form === "phone" ? "sms" : "handle";
  const register = () => go("choose", { did, credentialId: credentials[0]?.credential_id, channel, typed: name });
  const label = text(name ? "vault.register.again" : "none.register");
  return [
    paragraph("vault.unregistered"),
    el("div", { class: "buttons" }, button(label, register, { name: "register" })),
  ];
}

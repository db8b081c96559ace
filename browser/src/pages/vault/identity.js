/** The card that shows the DID and the registered name. */

import { copyButton } from "../parts/copy.js";
import { text } from "../parts/language.js";
import { el, paragraph } from "../parts/nodes.js";
import { card } from "./card.js";

/** @param {import("./home.js").Facts} known */
export function identityCard({ did, name, record }) {
  return card(
    "identity",
    text("vault.identity"),
    record ? paragraph("vault.name", { identifier: name }) : paragraph("vault.unregistered"),
    el("h3", {}, text("vault.did")),
    el("p", { class: "mono", "data-name": "did" }, did),
    el("div", { class: "buttons" }, copyButton(did)),
  );
}

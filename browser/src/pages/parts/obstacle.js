/** What stands in the way of passkeys here. */

import { copyButton } from "./copy.js";
import { text } from "./language.js";
import { el, paragraph } from "./nodes.js";
import { ADDRESS } from "./problems.js";

/**
 * Why passkeys are impossible here: another address than the service's, or a browser without them.
 *
 * @returns {HTMLElement | null} a notice that says what to do; null where passkeys are possible
 */
export function obstacle() {
  if (location.hostname !== new URL(ADDRESS).hostname) {
    const [before, after] = text("start.address", { address: "\n" }).split("\n");
    return el("p", { class: "notice", "data-name": "obstacle" }, before, el("a", { href: ADDRESS + location.pathname }, ADDRESS), after);
  }
  if (typeof PublicKeyCredential === "undefined" || !navigator.credentials) {
    return el("div", { class: "notice", "data-name": "obstacle" }, paragraph("start.unsupported"), copyButton(ADDRESS, text("start.copyAddress")));
  }
  return null;
}

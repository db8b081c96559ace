/** Detects why passkeys, or any vault, cannot be used on this page. */

import { copyButton } from "./copy.ts";
import { text } from "./language.ts";
import { el, paragraph } from "./nodes.ts";
import { ADDRESS } from "./problems.ts";

/** Whether the person or an administrator forbade this site to store anything: with blocked cookies, reading throws. */
export function cannotStore() {
  try {
    return localStorage.length < 0;
  } catch {
    return true;
  }
}

/**
 * Explains why passkeys are impossible: the browser stores nothing for this site, the page is not at the service's own
 * address, or the browser does not support passkeys.
 *
 * @returns a notice that says what to do; null if passkeys are possible
 */
export function obstacle(): HTMLElement | null {
  if (cannotStore()) return el("p", { class: "notice", "data-name": "obstacle" }, text("start.blocked"));
  if (location.hostname !== new URL(ADDRESS).hostname) {
    const [before, after] = text("start.address", { address: "\n" }).split("\n");
    return el(
      "p",
      { class: "notice", "data-name": "obstacle" },
      before,
      el("a", { href: ADDRESS + location.pathname }, ADDRESS),
      after,
    );
  }
  if (typeof PublicKeyCredential === "undefined" || !navigator.credentials) {
    return el(
      "div",
      { class: "notice", "data-name": "obstacle" },
      paragraph("start.unsupported"),
      copyButton(ADDRESS, text("start.copyAddress")),
    );
  }
  return null;
}

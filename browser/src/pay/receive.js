/** Shows where money can be sent to an account that has too little. */

import { qrCode } from "../kit/qr_code.js";
import { el } from "../kit/el.js";
import { meta } from "../kit/meta.js";
import { address } from "../kit/sheet.js";
import { part, tell } from "./screens.js";
import { text } from "./text.js";

/**
 * Shows an account's address at the end of the screen, instead of one that was shown before.
 *
 * @param {string} [account] an address; without it, nothing is shown
 */
export function showReceive(account) {
  document.getElementById("receive")?.remove();
  if (!account) return;
  const copy = () =>
    void navigator.clipboard.writeText(account).then(
      () => tell(text("copied")),
      () => tell(text("not_copied")),
    );
  const shown = el(
    "div",
    { id: "receive" },
    el("p", {}, text("receive", { chain: meta("chain-name") })),
    address(account),
    el("button", { type: "button", id: "copy", onclick: copy }, text("copy")),
    qrCode(account, text("receive_qr", { account })),
  );
  part("screen").append(shown);
}

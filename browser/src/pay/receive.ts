/** Shows where money can be sent to an account that has too little. */

import { qrCode } from "../kit/qr_code.ts";
import { el } from "../kit/el.ts";
import { meta } from "../kit/meta.ts";
import { address } from "../kit/sheet.ts";
import { part, tell } from "./screens.ts";
import { text } from "./text.ts";

/**
 * Shows an account's address at the end of the screen, instead of one that was shown before.
 *
 * @param account an address; without it, nothing is shown
 */
export function showReceive(account?: string) {
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

/** The screen for a person who cannot open their vault: the ways back in, in the order in which to try them. */

import { text } from "../parts/language.js";
import { button, buttons, el, paragraph } from "../parts/nodes.js";
import { obstacle } from "../parts/obstacle.js";
import { go } from "../parts/router.js";
import { show } from "../parts/screen.js";
import { backupButton, recoverButton } from "./recover.js";

/** @type {Record<"passkey" | "device" | "file" | "none", () => (HTMLElement | false)[]>} the ways by name, and the buttons of each */
const WAYS = {
  passkey: () => [!obstacle() && recoverButton(text("recover.again"))],
  device: () => [button(text("none.pair"), () => go("take"), { name: "take" })],
  file: () => [backupButton("")],
  none: () => [button(text("none.register"), () => go("choose"), { kind: "plain", name: "register" })],
};

/** Lists what can still open the vault, and says what is lost if nothing can. */
export function stuck() {
  show({
    name: "stuck",
    heading: text("stuck.heading"),
    redraw: stuck,
    body: [
      paragraph("stuck.lead"),
      .../** @type {(keyof typeof WAYS)[]} */ (Object.keys(WAYS)).flatMap((name) => [
        el("h2", {}, text(`stuck.${name}`)),
        paragraph(`stuck.${name}.how`),
        buttons(...WAYS[name]()),
      ]),
      buttons(button(text("back"), () => go("vault"), { kind: "plain", name: "back" })),
    ],
  });
}

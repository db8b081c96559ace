/** The screen for a person who cannot open their vault: the ways back in, in the order in which to try them. */

import { text } from "../parts/language.ts";
import { button, buttons, el, paragraph } from "../parts/nodes.ts";
import { obstacle } from "../parts/obstacle.ts";
import { go, opening } from "../parts/router.ts";
import { show } from "../parts/screen.ts";
import { backupButton, recoverButton } from "./recover.ts";

/** the ways by name, and the buttons of each */
const WAYS: Record<"passkey" | "device" | "file" | "none", () => (HTMLElement | false)[]> = {
  passkey: () => [!obstacle() && recoverButton(text("recover.again"))],
  device: () => [button(text("none.pair"), () => go("take", { replace: true }), { name: "take" })],
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
      ...(Object.keys(WAYS) as (keyof typeof WAYS)[]).flatMap((name) => [
        el("h2", {}, text(`stuck.${name}`)),
        paragraph(`stuck.${name}.how`),
        buttons(...WAYS[name]()),
      ]),
      buttons(button(text("back"), opening("vault"), { kind: "plain", name: "back" })),
    ],
  });
}

/** The pages' footer, with the service's state, a link to its interface, and the language switch. */

import { meta } from "../kit/meta.ts";
import { language, otherLanguage, switchLanguage, text, type TextKey } from "./parts/language.ts";
import { button, el } from "./parts/nodes.ts";
import { showAgain } from "./parts/screen.ts";
import { showState } from "./start.ts";

/** Called when the connection goes or comes back; the newest footer's. */
let check = () => {};
addEventListener("online", () => check());
addEventListener("offline", () => check());

/** @param changed called after the language was switched */
export function footer(changed: () => void = () => {}) {
  document.documentElement.lang = language;
  const state = el("span", { class: "state" });
  const turn = () => {
    switchLanguage();
    footer(changed);
    changed();
    showAgain();
    document.querySelector<HTMLElement>('[data-name="language"]')?.focus();
  };
  for (const link of document.querySelectorAll<HTMLElement>("#links a"))
    link.textContent = text(`footer.${link.dataset.link}` as TextKey);
  const next = otherLanguage();
  const other = button(text("language.other"), turn, { kind: "plain", name: "language" });
  other.lang = next ?? language;
  document
    .getElementById("footer")
    ?.replaceChildren(state, el("a", { href: "/docs" }, text("footer.interface")), ...(next ? [other] : []));
  showNetwork();
  check = () => void showState(state);
  check();
}

/** Says above every screen that the service's chain is a test network, whose money has no value. */
function showNetwork() {
  const node = document.getElementById("test-network");
  if (!node) return;
  node.hidden = !meta("test-money");
  node.textContent = node.hidden ? "" : text("network.test");
}

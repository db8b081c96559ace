/** The parts of the payment window around the sheet: heading, announcements and buttons. */

import { meta, serviceName } from "../kit/meta.js";
import { ignoreStrayClicks } from "../kit/stray_clicks.js";
import { el } from "../kit/el.js";
import { language, text } from "./text.js";

/** @typedef {{text: string, id: string, main?: boolean, href?: string, onclick?: () => void}} Button */

/** @param {string} id @returns {HTMLElement} */
export function part(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** Shows the page before the shop's request arrives. */
export function begin() {
  document.documentElement.lang = language;
  heading(text("title"));
  part("screen").replaceChildren(el("p", { id: "waiting" }, text("waiting")));
}

/**
 * @param {string} title
 * @param {Node[]} nodes
 * @param {Button[]} buttons
 */
export function screen(title, nodes, buttons) {
  heading(title);
  tell("");
  warn("");
  part("screen").replaceChildren(...nodes);
  showButtons(buttons);
  document.querySelector("main")?.removeAttribute("aria-busy");
  part("heading").focus({ preventScroll: true });
}

/**
 * Replaces the buttons, and moves the focus to a new button if an old one had it.
 *
 * @param {Button[]} buttons
 */
export function showButtons(buttons) {
  const focused = document.activeElement?.id;
  part("buttons").replaceChildren(...buttons.map(made));
  guardMainButton();
  if (focused) document.getElementById(focused)?.focus();
}

/** @param {string} said announced without interrupting a screen reader */
export function tell(said) {
  part("status").textContent = said;
}

/** @param {string} said announced immediately */
export function warn(said) {
  part("alert").textContent = said;
}

/** Makes the main button ignore stray clicks, because it has just appeared or the window returned to the front. */
export function guardMainButton() {
  document.querySelectorAll("#buttons button.main").forEach(ignoreStrayClicks);
}

/** @param {string} title */
function heading(title) {
  const service = serviceName();
  document.title = service ? `${title} – ${service}` : title;
  part("heading").textContent = title;
  part("test-network").textContent = meta("test-money") && text("test_money");
}

/** @param {Button} button */
function made({ text: label, id, main = false, href, onclick }) {
  if (href) return el("a", { id, href, class: "button", target: "_blank", rel: "noopener" }, label);
  return el("button", { id, type: "button", class: main ? "main" : null, onclick }, label);
}

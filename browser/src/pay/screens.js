/** The parts of the payment window around the sheet: heading, announcements and buttons. */

import { el } from "./el.js";
import { language, text } from "./text.js";

/** How long a newly shown button ignores clicks, so that the person can read it first. */
const READING_MS = 500;

/** @typedef {{text: string, id: string, main?: boolean, href?: string, onclick?: () => void}} Button */

/** @param {string} id @returns {HTMLElement} */
function place(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** Shows the page before the shop's request arrives. */
export function begin() {
  document.documentElement.lang = language;
  heading(text("title"));
  place("screen").replaceChildren(el("p", { id: "waiting" }, text("waiting")));
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
  place("screen").replaceChildren(...nodes);
  showButtons(buttons);
  document.querySelector("main")?.removeAttribute("aria-busy");
  place("heading").focus({ preventScroll: true });
}

/**
 * Replaces the buttons, and moves the focus to a new button if an old one had it.
 *
 * @param {Button[]} buttons
 */
export function showButtons(buttons) {
  const focused = document.activeElement?.id;
  place("buttons").replaceChildren(...buttons.map(made));
  if (focused) document.getElementById(focused)?.focus();
}

/** @param {string} said announced without interrupting a screen reader */
export function tell(said) {
  place("status").textContent = said;
}

/** @param {string} said announced immediately */
export function warn(said) {
  place("alert").textContent = said;
}

/**
 * Disables the main button briefly after it appears and after the window returns to the front, so that a stray click
 * does not pay.
 *
 * @param {HTMLButtonElement} button
 */
export function guard(button) {
  button.disabled = true;
  setTimeout(() => (button.disabled = false), READING_MS);
}

/** @returns {HTMLButtonElement | null} */
export function mainButton() {
  return document.querySelector("#buttons button.main");
}

/** @param {string} title */
function heading(title) {
  const service = document.querySelector('meta[name="application-name"]')?.getAttribute("content");
  document.title = service ? `${title} – ${service}` : title;
  place("heading").textContent = title;
}

/** @param {Button} button */
function made({ text: label, id, main = false, href, onclick }) {
  if (href) return el("a", { id, href, className: "button", target: "_blank", rel: "noopener" }, label);
  const button = el("button", { id, type: "button", className: main ? "main" : "", onclick }, label);
  if (main) guard(button);
  return button;
}

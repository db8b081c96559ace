/** What the window shows around the sheet: heading, announcements, buttons. */

import { el } from "./el.js";
import { language, text } from "./text.js";

/** For so long a button that has just appeared takes no click: the person has not read it yet. */
const READING_MS = 500;

/** @typedef {{text: string, id: string, main?: boolean, href?: string, onclick?: () => void}} Button */

/** @param {string} id @returns {HTMLElement} */
function place(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** The page as it is before the shop's request arrives. */
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

/** @param {Button[]} buttons */
export function showButtons(buttons) {
  place("buttons").replaceChildren(...buttons.map(made));
}

/** @param {string} said to the person, politely */
export function tell(said) {
  place("status").textContent = said;
}

/** @param {string} said to the person, at once */
export function warn(said) {
  place("alert").textContent = said;
}

/**
 * The main button is dead for a moment after it has appeared, and after the window has come to the front again: a click
 * that was meant for something else pays nothing.
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

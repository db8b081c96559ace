/** The parts of the payment window around the sheet: heading, announcements and buttons. */

import { meta, serviceName } from "../kit/meta.ts";
import { ignoreStrayClicks } from "../kit/stray_clicks.ts";
import { el } from "../kit/el.ts";
import { language, text } from "./text.ts";

export type Button = { text: string; id: string; main?: boolean; href?: string; onclick?: () => void };

export function part(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

/** Shows the page before the shop's request arrives. */
export function begin() {
  document.documentElement.lang = language;
  heading(text("title"));
  part("screen").replaceChildren(el("p", { id: "waiting" }, text("waiting")));
}

export function screen(title: string, nodes: Node[], buttons: Button[]) {
  heading(title);
  tell("");
  warn("");
  part("screen").replaceChildren(...nodes);
  showButtons(buttons);
  document.querySelector("main")?.removeAttribute("aria-busy");
  part("heading").focus({ preventScroll: true });
}

/** Replaces the buttons, and moves the focus to a new button, or else to the heading, if an old one had it. */
export function showButtons(buttons: Button[]) {
  const focused = document.activeElement?.id;
  part("buttons").replaceChildren(...buttons.map(made));
  guardMainButton();
  if (focused) (document.getElementById(focused) ?? part("heading")).focus({ preventScroll: true });
}

/** Moves the focus to the heading if a button has it that is disabled now: browsers would take it away. */
export function keepFocus() {
  if (document.activeElement?.matches(":disabled")) part("heading").focus({ preventScroll: true });
}

/** @param said announced without interrupting a screen reader */
export function tell(said: string) {
  part("status").textContent = said;
}

/** @param said announced immediately */
export function warn(said: string) {
  part("alert").textContent = said;
}

/** Makes the main button ignore stray clicks, because it has just appeared or the window returned to the front. */
export function guardMainButton() {
  document.querySelectorAll("#buttons button.main").forEach(ignoreStrayClicks);
}

function heading(title: string) {
  const service = serviceName();
  document.title = service ? `${title} – ${service}` : title;
  part("heading").textContent = title;
  part("test-network").textContent = meta("test-money") && text("test_money");
}

function made({ text: label, id, main = false, href, onclick }: Button) {
  if (href) return el("a", { id, href, class: "button", target: "_blank", rel: "noopener" }, label);
  return el("button", { id, type: "button", class: main ? "main" : null, onclick }, label);
}

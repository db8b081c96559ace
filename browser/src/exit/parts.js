/** A step of the page: a heading, what it shows, and a form that says what it does. */

import { el } from "../kit/el.js";
import { field } from "./nodes.js";

/**
 * @param {string} name
 * @param {string} heading
 * @param {...import("../kit/el.js").Child} body
 */
export function step(name, heading, ...body) {
  return el("section", { "data-step": name }, el("h2", { tabindex: "-1" }, heading), ...body);
}

/**
 * @param {import("./main.js").Page} page
 * @param {string} label of the button
 * @param {(form: HTMLFormElement) => Promise<void>} work
 * @param {...import("../kit/el.js").Child} body
 */
export function form(page, label, work, ...body) {
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const it = /** @type {HTMLFormElement} */ (event.currentTarget);
    page.run(it, () => work(it));
  };
  const button = el("p", { class: "buttons" }, el("button", { class: "main" }, label));
  return el(
    "form",
    { onsubmit: submit, novalidate: true },
    ...body,
    button,
    el("p", { "data-said": true, role: "status" }),
  );
}

/**
 * A field that keeps what the person typed when the page is drawn again.
 *
 * @param {import("./main.js").Page} page
 * @param {string} name
 * @param {string} label
 * @param {{tag?: string, hint?: string, type?: string}} [more]
 */
export function typed(page, name, label, { hint = "", ...props } = {}) {
  const made = field(label, { name, ...props }, hint);
  made.input.value = page.typed[name] ?? "";
  made.input.addEventListener("input", () => {
    page.typed[name] = made.input.value;
    made.say("");
  });
  return made;
}

/** Buttons, paragraphs, fields and forms of the pages. */

import { el } from "../../kit/el.js";
import { text } from "./language.js";

export { el };

/** @typedef {import("../../kit/el.js").Child} Child */

/**
 * Creates a button.
 *
 * @param {string} label
 * @param {(event: Event) => unknown} onclick
 * @param {{kind?: "main" | "plain" | "bad" | "", name?: string}} [look] `name`: by which scripts and tests find it
 * @returns {HTMLButtonElement}
 */
export function button(label, onclick, { kind = "", name } = {}) {
  return el("button", { type: "button", class: kind || null, "data-name": name, onclick }, label);
}

/**
 * Tells screen readers what a button is about, where several buttons have the same text.
 *
 * @param {HTMLButtonElement} button
 * @param {string} words
 */
export function about(button, words) {
  button.setAttribute("aria-label", `${button.textContent}: ${words}`);
  return button;
}

/** @param {...Child} children */
export function buttons(...children) {
  return el("div", { class: "buttons screen-buttons" }, ...children);
}

/**
 * @param {import("./language.js").TextKey} key
 * @param {Record<string, string | number>} [values]
 * @param {string | null} [look]
 */
export function paragraph(key, values = {}, look = null) {
  return el("p", { class: look }, text(key, values));
}

let count = 0;

/**
 * Creates a labelled field with a hint and a place for an error message.
 *
 * @param {string} label
 * @param {Record<string, any>} props of the input
 * @param {string} [hint]
 */
export function field(label, props, hint) {
  const id = `field-${++count}`;
  const input = /** @type {HTMLInputElement} */ (
    el("input", { id, "aria-describedby": `${hint ? `${id}-hint ` : ""}${id}-verdict`, ...props })
  );
  const verdict = el("p", { id: `${id}-verdict`, class: "verdict" });
  const node = el(
    "div",
    { class: "field" },
    el("label", { for: id }, label),
    hint && el("p", { class: "hint", id: `${id}-hint` }, hint),
    input,
    verdict,
  );
  return { node, input, verdict, judge };

  /**
   * Shows what is wrong with the input, or that it is valid; without arguments, clears the message.
   *
   * @param {string} [bad]
   * @param {string} [good]
   */
  function judge(bad = "", good = "") {
    verdict.textContent = bad || good;
    verdict.className = bad ? "verdict bad" : good ? "verdict good" : "verdict";
    if (bad) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
}

/**
 * Creates a form whose submission calls a function and never navigates.
 *
 * @param {(form: HTMLFormElement) => unknown} onSubmit
 * @param {...Child} children
 * @returns {HTMLFormElement}
 */
export function form(onSubmit, ...children) {
  const made = /** @type {HTMLFormElement} */ (el("form", { novalidate: true }, ...children));
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    void onSubmit(made);
  });
  return made;
}

/** @param {string} label */
export function submit(label) {
  return el("button", { type: "submit", class: "main", "data-name": "submit" }, label);
}

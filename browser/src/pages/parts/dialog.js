/** Asks for confirmation before an action that cannot be undone. */

import { text } from "./language.js";
import { button, el } from "./nodes.js";

let count = 0;

/**
 * Shows a confirmation dialog, which Escape closes.
 *
 * @param {{heading: string, words: string, yes: string, no?: string, more?: import("./nodes.js").Child[]}} question `no`: by
 *   default, "Cancel"; `more`: what the question is about, after its words
 * @returns {Promise<boolean>}
 */
export function confirmed({ heading, words, yes, no = text("cancel"), more = [] }) {
  const id = `dialog-${++count}`;
  return new Promise((resolve) => {
    const close = (/** @type {boolean} */ answer) => {
      resolve(answer);
      box.remove();
    };
    const box = el(
      "dialog",
      { "aria-labelledby": id, oncancel: () => close(false) },
      el("h2", { id }, heading),
      el("p", {}, words),
      ...more,
      el(
        "div",
        { class: "buttons" },
        button(yes, () => close(true), { kind: "bad", name: "yes" }),
        button(no, () => close(false), { name: "no" }),
      ),
    );
    document.querySelector("main")?.append(box);
    box.showModal();
    /** @type {HTMLElement} */ (box.querySelector('[data-name="no"]')).focus();
    box.scrollTop = 0;
  });
}

/** Asks for confirmation before an action that cannot be undone. */

import type { Child } from "../../kit/el.ts";
import { text } from "./language.ts";
import { button, el } from "./nodes.ts";

let count = 0;

/**
 * Shows a confirmation dialog, which Escape closes.
 *
 * @param question `no`: by default, "Cancel"; `more`: what the question is about, after its words
 */
export function confirmed({
  heading,
  words,
  yes,
  no = text("cancel"),
  more = [],
}: {
  heading: string;
  words: string;
  yes: string;
  no?: string;
  more?: Child[];
}): Promise<boolean> {
  const id = `dialog-${++count}`;
  return new Promise((resolve) => {
    const close = (answer: boolean) => {
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
    (box.querySelector('[data-name="no"]') as HTMLElement).focus();
    box.scrollTop = 0;
  });
}

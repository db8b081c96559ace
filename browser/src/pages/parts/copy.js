/** Copying a text. */

import { text } from "./language.js";
import { button } from "./nodes.js";
import { alarm, say } from "./screen.js";

/**
 * @param {string} value
 * @param {string} [label]
 */
export function copyButton(value, label = text("copy")) {
  return button(label, () => copied(value), { name: "copy" });
}

/** @param {string} value */
async function copied(value) {
  try {
    await navigator.clipboard.writeText(value);
    say(text("copied"));
  } catch {
    alarm(text("copy.failed"));
  }
}

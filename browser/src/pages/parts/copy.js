/** Copies texts to the clipboard. */

import { text } from "./language.js";
import { button } from "./nodes.js";
import { alarm, say } from "./screen.js";

/**
 * @param {string} value
 * @param {string} [label]
 * @param {string} [name] by which scripts and tests find it
 */
export function copyButton(value, label = text("copy"), name = "copy") {
  return button(label, () => copied(value), { name });
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

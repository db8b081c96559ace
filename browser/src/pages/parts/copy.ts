/** Copies texts to the clipboard. */

import { text } from "./language.ts";
import { button } from "./nodes.ts";
import { alarm, say } from "./screen.ts";

/** @param name by which scripts and tests find it */
export function copyButton(value: string, label: string = text("copy"), name: string = "copy") {
  return button(label, () => copied(value), { name });
}

async function copied(value: string) {
  try {
    await navigator.clipboard.writeText(value);
    say(text("copied"));
  } catch {
    alarm(text("copy.failed"));
  }
}

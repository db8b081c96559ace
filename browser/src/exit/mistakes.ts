/** What the page says when something failed. A node's words are marked as such, because a node may lie. */

import type { Values } from "../kit/filled.ts";
import { PluginCallError, printable } from "../errors.ts";
import { NodeRefused } from "./node.ts";
import type { TextKey } from "./texts.ts";

const LONGEST = 200;
/** The quotation marks of the texts. */
const QUOTES = /[“”„«»]/g;

export function mistakeText(text: (key: TextKey, values?: Values) => string, error: unknown): string {
  if (error instanceof PluginCallError && error.code) return text("failed", { message: error.code });
  const refused = causesOf(error).find((it) => it instanceof NodeRefused);
  if (refused) return text("failed.node", { host: refused.host, message: quotable(refused.message) });
  // Such an error quotes what a node answered instead of a number, or an answer ends too early.
  if (error instanceof SyntaxError || error instanceof RangeError) return text("failed.unread");
  return text("failed", { message: error instanceof Error ? error.message : String(error) });
}

/** @returns it, and what caused it */
function causesOf(error: unknown): unknown[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

function quotable(words: string) {
  const shown = printable(words).replace(QUOTES, "'");
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}

/** What the page says when something failed. A node's words are marked as such, because a node may lie. */

import { PluginCallError, printable } from "../errors.js";
import { NodeRefused } from "./node.js";

const LONGEST = 200;
/** The quotation marks of the texts. */
const QUOTES = /[“”„«»]/g;

/**
 * @param {(key: import("./texts.js").TextKey, values?: Record<string, unknown>) => string} text
 * @param {unknown} error
 * @returns {string}
 */
export function mistakeText(text, error) {
  if (error instanceof PluginCallError && error.code) return text("failed", { message: error.code });
  const refused = causesOf(error).find((it) => it instanceof NodeRefused);
  if (refused) return text("failed.node", { host: refused.host, message: quotable(refused.message) });
  if (error instanceof SyntaxError) return text("failed.unread"); // quotes what a node answered instead of a number
  return text("failed", { message: error instanceof Error ? error.message : String(error) });
}

/** @param {unknown} error @returns {unknown[]} it, and what caused it */
function causesOf(error) {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** @param {string} words */
function quotable(words) {
  const shown = printable(words).replace(QUOTES, "'");
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}

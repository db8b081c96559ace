/** Cards on the vault's screen. */

import { el } from "../parts/nodes.js";

/**
 * Creates a card: a heading and its contents.
 *
 * @param {string} name
 * @param {string} heading
 * @param {...(Node | string | null | false | undefined)} children
 */
export function card(name, heading, ...children) {
  const id = `card-${name}`;
  return el(
    "section",
    { class: "card", "aria-labelledby": id, "data-card": name },
    el("h2", { id }, heading),
    ...children,
  );
}

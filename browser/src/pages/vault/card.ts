/** Cards on the vault's screen. */

import { el } from "../parts/nodes.ts";

/** Creates a card: a heading and its contents. */
export function card(name: string, heading: string, ...children: (Node | string | null | false | undefined)[]) {
  const id = `card-${name}`;
  return el(
    "section",
    { class: "card", "aria-labelledby": id, "data-card": name },
    el("h2", { id }, heading),
    ...children,
  );
}

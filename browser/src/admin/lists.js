/** Pages of a list, each below the one before. */

import { el } from "../kit/el.js";
import { get, saveCsv } from "./port.js";
import { button, buttons } from "./screen.js";
import { text } from "./texts.js";

/** @typedef {import("../kit/el.js").Child} Child */
/** @typedef {import("./port.js").Row} Row */

/**
 * Returns the first page of a list, and a button for the next one.
 *
 * @param {string} path
 * @param {import("./port.js").Fields} fields
 * @param {(row: Row) => Child[]} parts of a row
 * @returns {Promise<Child[]>}
 */
export async function listed(path, fields, parts) {
  const rows = el("ul", { class: "rows" });
  const foot = el("div", {});
  await add(null);
  return [rows, foot];

  /** @param {string | null} after */
  async function add(after) {
    const page = await get(path, { ...fields, after });
    rows.append(...page.rows.map((/** @type {Row} */ row) => el("li", {}, ...parts(row))));
    const more = page.after !== null && button("next", () => add(page.after));
    const none = rows.childElementCount === 0 && el("p", {}, text(more ? "empty.more" : "empty"));
    const csv = button("csv", () => saveCsv(path, fields), { kind: "plain" });
    foot.replaceChildren(...[none, buttons(more, csv)].filter((it) => it !== false));
  }
}

/** @param {...(string | null | false | undefined)} words */
export function small(...words) {
  return el("p", { class: "small" }, words.filter((word) => word).join(" · "));
}

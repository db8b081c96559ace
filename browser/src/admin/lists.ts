/** Pages of a list, each below the one before. */

import { type Child, el } from "../kit/el.ts";
import { type Fields, get, type Lists, saveCsv } from "./port.ts";
import { button, buttons } from "./screen.ts";
import { text } from "./texts.ts";

/**
 * Returns the first page of a list, and a button for the next one.
 *
 * @param parts of a row
 */
export async function listed<Path extends keyof Lists>(
  path: Path,
  fields: Fields,
  parts: (row: Lists[Path]) => Child[],
): Promise<Child[]> {
  const rows = el("ul", { class: "rows" });
  const foot = el("div", {});
  await add(null);
  return [rows, foot];

  async function add(after: string | null) {
    const page = await get<{ rows: Lists[Path][]; after: string | null }>(path, { ...fields, after });
    rows.append(...page.rows.map((row) => el("li", {}, ...parts(row))));
    const more = page.after !== null && button("next", () => add(page.after));
    const none = rows.childElementCount === 0 && el("p", {}, text(more ? "empty.more" : "empty"));
    const csv = button("csv", () => saveCsv(path, fields), { kind: "plain" });
    foot.replaceChildren(...[none, buttons(more, csv)].filter((it) => it !== false));
  }
}

export function small(...words: (string | null | false | undefined)[]) {
  return el("p", { class: "small" }, words.filter((word) => word).join(" · "));
}

/** The operators' page on the admin port: asks for a key once, and shows the screen that the address names. */

import { el } from "../kit/el.ts";
import { identifiers } from "./identifiers.ts";
import { acts, bans, counts, invitations } from "./others.ts";
import { forgetKey, hasKey, keepKey } from "./port.ts";
import { button, field, form, show, whenRefused } from "./screen.ts";
import { otherTongue, switchTongue, text, tongue } from "./texts.ts";

const SCREENS = { identifiers, bans, invitations, counts, acts };
type ScreenName = keyof typeof SCREENS;

const NAMES = Object.keys(SCREENS) as ScreenName[];

function shown() {
  const name = NAMES.find((it) => location.hash === `#${it}`) ?? "identifiers";
  frame(name);
  return hasKey() ? SCREENS[name]() : key();
}

function key() {
  return show("key", text("key.heading"), async () => [
    el("p", { class: "lead" }, text("key.lead")),
    form(
      "key.open",
      async (values) => {
        keepKey(values.key);
        await shown();
      },
      field("key.label", { name: "key", type: "password", autocomplete: "off", required: true }, "key.hint"),
    ),
  ]);
}

/** Draws what is around the screen. */
function frame(current: ScreenName) {
  document.documentElement.lang = tongue();
  const links = NAMES.map((name) =>
    el("a", { href: `#${name}`, "data-name": name, "aria-current": name === current ? "page" : null }, text(name)),
  );
  replace("tabs", hasKey() ? links : []);
  const other = otherTongue();
  const turn = async () => {
    switchTongue();
    await shown();
  };
  const forget = async () => {
    forgetKey();
    await shown();
  };
  replace("footer", [
    hasKey() && button("key.forget", forget, { kind: "plain" }),
    other && button("language", turn, { kind: "plain" }),
  ]);
}

function replace(id: string, nodes: (Node | false | null)[]) {
  const present = nodes.filter((it) => it instanceof Node);
  (document.getElementById(id) as HTMLElement).replaceChildren(...present);
}

whenRefused(() => void shown());
addEventListener("hashchange", () => void shown());
void shown();

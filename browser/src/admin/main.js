/** The operators' page on the admin port: asks for a key once, and shows the screen that the address names. */

import { el } from "../kit/el.js";
import { identifiers } from "./identifiers.js";
import { acts, bans, counts, invitations } from "./others.js";
import { forgetKey, hasKey, keepKey } from "./port.js";
import { button, field, form, show, whenRefused } from "./screen.js";
import { otherTongue, switchTongue, text, tongue } from "./texts.js";

const SCREENS = { identifiers, bans, invitations, counts, acts };
/** @typedef {keyof typeof SCREENS} ScreenName */
const NAMES = /** @type {ScreenName[]} */ (Object.keys(SCREENS));

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

/** Draws what is around the screen. @param {ScreenName} current */
function frame(current) {
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

/** @param {string} id @param {(Node | false | null)[]} nodes */
function replace(id, nodes) {
  const present = nodes.filter((it) => it instanceof Node);
  /** @type {HTMLElement} */ (document.getElementById(id)).replaceChildren(...present);
}

whenRefused(() => void shown());
addEventListener("hashchange", () => void shown());
void shown();

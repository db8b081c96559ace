/** A form for a new password, which must be typed twice. */

import { text } from "./language.js";
import { buttons, el, field, form, submit } from "./nodes.js";
import { run } from "./screen.js";
import { weakness } from "../../vault/password_rule.js";

/** @type {Record<string, import("./language.js").TextKey | "">} */
const WEAK = { "": "", short: "password.weak", simple: "password.simple" };

/**
 * @param {string} label of the button
 * @param {(password: string) => Promise<unknown>} use
 * @param {...Node} more further buttons
 * @returns {HTMLFormElement}
 */
export function newPassword(label, use, ...more) {
  const first = field(
    text("password.label"),
    { type: "password", name: "new-password", autocomplete: "new-password" },
    text("password.hint"),
  );
  const second = field(text("password.repeat"), {
    type: "password",
    name: "new-password-again",
    autocomplete: "new-password",
  });
  return form(
    (it) => {
      const bad = WEAK[weakness(first.input.value)];
      const differs = !bad && first.input.value !== second.input.value ? "password.mismatch" : "";
      first.judge(bad && text(bad));
      second.judge(differs && text(differs));
      if (bad || differs) return (bad ? first : second).input.focus();
      return run(it.querySelector("button[type=submit]"), () => use(first.input.value), text("working"));
    },
    first.node,
    second.node,
    shown(first.input, second.input),
    buttons(submit(label), ...more),
  );
}

/**
 * A checkbox that shows passwords.
 *
 * @param {...HTMLInputElement} inputs
 */
export function shown(...inputs) {
  const box = el("input", {
    type: "checkbox",
    class: "tick",
    onchange: () => inputs.forEach((it) => (it.type = box.checked ? "text" : "password")),
  });
  return el("label", { class: "ticked" }, box, text("password.show"));
}

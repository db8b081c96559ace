/** A form for a new password, which must be typed twice. */

import { text, type TextKey } from "./language.ts";
import { buttons, el, field, form, submit } from "./nodes.ts";
import { run } from "./screen.ts";
import { weakness } from "../../vault/password_rule.ts";

const WEAK: Record<string, TextKey | ""> = { "": "", short: "password.weak", simple: "password.simple" };

/**
 * @param label of the button
 * @param more further buttons
 */
export function newPassword(
  label: string,
  use: (password: string) => Promise<unknown>,
  ...more: Node[]
): HTMLFormElement {
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

/** A checkbox that shows passwords. */
export function shown(...inputs: HTMLInputElement[]) {
  const box = el("input", {
    type: "checkbox",
    class: "tick",
    onchange: () => inputs.forEach((it) => (it.type = box.checked ? "text" : "password")),
  });
  return el("label", { class: "ticked" }, box, text("password.show"));
}

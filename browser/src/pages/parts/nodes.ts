/** Buttons, paragraphs, fields and forms of the pages. */

import { type Child, el, type Props } from "../../kit/el.ts";
import { text, type TextKey } from "./language.ts";

export { el };

/** an event of what was pressed */
export type Press = Event & { currentTarget: HTMLElement };

/**
 * Creates a button.
 *
 * @param look `name`: by which scripts and tests find it
 */
export function button(
  label: string,
  onclick: (event: Press) => unknown,
  { kind = "", name }: { kind?: "main" | "plain" | "bad" | ""; name?: string } = {},
): HTMLButtonElement {
  return el("button", { type: "button", class: kind || null, "data-name": name, onclick }, label);
}

/** Tells screen readers what a button is about, where several buttons have the same text. */
export function about(button: HTMLButtonElement, words: string) {
  button.setAttribute("aria-label", `${button.textContent}: ${words}`);
  return button;
}

export function buttons(...children: Child[]) {
  return el("div", { class: "buttons screen-buttons" }, ...children);
}

export function paragraph(key: TextKey, values: Record<string, string | number> = {}, look: string | null = null) {
  return el("p", { class: look }, text(key, values));
}

export type StepState = "waiting" | "busy" | "done" | "later";

/**
 * Creates a list of steps. A step's words say what is true once it is done, so screen readers read its state first;
 * those of one that is left out say why.
 *
 * @returns `mark` changes a step's state; `stopped` says that none is busy, and returns the list
 */
export function stepList(steps: [name: string, words: string][]) {
  const list = el("ul", { class: "steps" }, ...steps.map(([name]) => el("li", { "data-step": name })));
  const known = new Map(steps);
  const mark = (name: string, state: StepState, words = known.get(name)) => {
    const node = list.querySelector<HTMLElement>(`[data-step="${name}"]`);
    if (!node || !words) return;
    node.dataset.state = state;
    const said = state !== "later" && el("span", { class: "unseen" }, `${text(`step.${state}`)}: `);
    node.replaceChildren(el("span", {}, said, words));
  };
  const stopped = () => {
    const busy = list.querySelector<HTMLElement>('[data-state="busy"]')?.dataset.step;
    if (busy) mark(busy, "waiting");
    return list;
  };
  for (const [name] of steps) mark(name, "waiting");
  return { list, mark, stopped };
}

let count = 0;

/**
 * Creates a labelled field with a hint and a place for an error message.
 *
 * @param props of the input
 */
export function field(label: string, props: Props, hint?: string) {
  const id = `field-${++count}`;
  const input = el("input", {
    id,
    "aria-describedby": `${hint ? `${id}-hint ` : ""}${id}-verdict`,
    ...props,
  });
  const verdict = el("p", { id: `${id}-verdict`, class: "verdict" });
  const node = el(
    "div",
    { class: "field" },
    el("label", { for: id }, label),
    hint && el("p", { class: "hint", id: `${id}-hint` }, hint),
    input,
    verdict,
  );
  return { node, input, verdict, judge };

  /** Shows what is wrong with the input, or that it is valid; without arguments, clears the message. */
  function judge(bad: string = "", good: string = "") {
    verdict.textContent = bad || good;
    verdict.className = bad ? "verdict bad" : good ? "verdict good" : "verdict";
    if (bad) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
}

/** Creates a form whose submission calls a function and never navigates. */
export function form(onSubmit: (form: HTMLFormElement) => unknown, ...children: Child[]): HTMLFormElement {
  const made = el("form", { novalidate: true }, ...children);
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    void onSubmit(made);
  });
  return made;
}

export function submit(label: string) {
  return el("button", { type: "submit", class: "main", "data-name": "submit" }, label);
}

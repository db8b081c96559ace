/** A step of the page: a heading, what it shows, and a form that says what it does. */

import { type Child, el } from "../kit/el.ts";
import type { Page } from "./main.ts";
import { field } from "./nodes.ts";

export function step(name: string, heading: string, ...body: Child[]) {
  return el("section", { "data-step": name }, el("h2", { tabindex: "-1" }, heading), ...body);
}

/** @param label of the button */
export function form(page: Page, label: string, work: (form: HTMLFormElement) => Promise<void>, ...body: Child[]) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const it = event.currentTarget as HTMLFormElement;
    page.run(it, () => work(it));
  };
  const button = el("p", { class: "buttons" }, el("button", { class: "main" }, label));
  return el(
    "form",
    { onsubmit: submit, novalidate: true },
    ...body,
    button,
    el("p", { "data-said": true, role: "status" }),
  );
}

/** A field that keeps what the person typed when the page is drawn again. */
export function typed(
  page: Page,
  name: string,
  label: string,
  { hint = "", ...props }: { tag?: string; hint?: string; type?: string } = {},
) {
  const made = field(label, { name, ...props }, hint);
  made.input.value = page.typed[name] ?? "";
  made.input.addEventListener("input", () => {
    page.typed[name] = made.input.value;
    made.say("");
  });
  return made;
}

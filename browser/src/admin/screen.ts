/** Draws one screen at a time, and carries out what a button or form asks. */

import { type Child, el, type Props } from "../kit/el.ts";
import { focusAgain } from "../kit/focus.ts";
import { Refused, forgetKey } from "./port.ts";
import { named, text, type TextKey } from "./texts.ts";

/** Called when the service refuses the key. */
let refused = () => {};
/** Counts the screens: one that comes late does not replace a newer one. */
let turn = 0;

export function whenRefused(then: () => void) {
  refused = then;
}

/**
 * Draws what `made` returns, once it is there.
 *
 * @param name for scripts and tests
 */
export async function show(name: string, heading: string, made: () => Promise<Child[]>) {
  const mine = ++turn;
  await attempt(async () => {
    const body = await made();
    if (mine !== turn) return;
    const h1 = el("h1", { tabindex: "-1" }, heading);
    part("screen").replaceChildren(...el("div", {}, h1, ...body).childNodes);
    (document.querySelector("main") as HTMLElement).dataset.screen = name;
    document.title = heading;
    h1.focus({ preventScroll: true });
  });
}

export async function attempt(work: () => Promise<unknown>) {
  part("alert").textContent = "";
  part("status").textContent = "";
  try {
    await work();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      forgetKey();
      refused();
    }
    part("alert").textContent = problem(error);
  }
}

export function say(sentence: string) {
  part("status").textContent = sentence;
}

function problem(error: unknown) {
  if (!(error instanceof Refused)) return String(error);
  const known: Record<number, TextKey> = {
    0: "error.network",
    401: "key.refused",
    403: "error.scope",
    429: "error.limit",
    503: "error.busy",
  };
  return known[error.status] ? text(known[error.status]) : error.message;
}

/**
 * A button that is disabled until its work is done, so that a double click acts once.
 *
 * @param name for scripts and tests
 */
export function button(
  name: string,
  work: () => Promise<unknown>,
  { kind = "", label = named(name) }: { kind?: string; label?: string } = {},
) {
  const made = el("button", { type: "button", class: kind || null, "data-name": name, onclick: press }, label);
  return made;

  async function press() {
    made.disabled = true;
    await attempt(work);
    made.disabled = false;
    focusAgain(made);
  }
}

/** A button that asks first. */
export function asking(name: string, question: string, work: () => Promise<unknown>) {
  return button(name, async () => confirm(question) && (await work()), { kind: "bad" });
}

export function buttons(...children: Child[]) {
  return el("div", { class: "buttons" }, ...children);
}

/**
 * A form whose submission calls a function with the values of its fields, and never navigates.
 *
 * @param action of the button
 */
export function form(
  action: TextKey,
  work: (values: Record<string, string>) => Promise<unknown>,
  ...children: Child[]
) {
  const submit = el("button", { type: "submit", class: "main", "data-name": action }, text(action));
  const made = el("form", {}, ...children, buttons(submit));
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    const values = Object.fromEntries([...new FormData(made)].map(([name, value]) => [name, String(value).trim()]));
    await attempt(() => work(values));
    submit.disabled = false;
    focusAgain(submit);
  });
  return made;
}

/** @param props of the input */
export function field(key: TextKey, props: Props, hint?: TextKey) {
  const id = `field-${props.name}`;
  const described = hint ? { "aria-describedby": `${id}-hint` } : {};
  const note = hint && el("p", { class: "hint", id: `${id}-hint` }, text(hint));
  return el(
    "div",
    { class: "field" },
    el("label", { for: id }, text(key)),
    note,
    el("input", { id, ...described, ...props }),
  );
}

export function choice(key: TextKey, name: string, words: string[], chosen: string = "") {
  const id = `field-${name}`;
  const options = words.map((word) =>
    el("option", { value: word, selected: word === chosen }, word ? named(word) : text("any")),
  );
  return el("div", { class: "field" }, el("label", { for: id }, text(key)), el("select", { id, name }, ...options));
}

function part(id: string) {
  return document.getElementById(id) as HTMLElement;
}

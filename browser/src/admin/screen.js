/** Draws one screen at a time, and carries out what a button or form asks. */

import { el } from "../kit/el.js";
import { Refused, forgetKey } from "./port.js";
import { named, text } from "./texts.js";

/** @typedef {import("../kit/el.js").Child} Child */
/** @typedef {import("./texts.js").TextKey} TextKey */

/** Called when the service refuses the key. */
let refused = () => {};
/** Counts the screens: one that comes late does not replace a newer one. */
let turn = 0;

/** @param {() => void} then */
export function whenRefused(then) {
  refused = then;
}

/**
 * Draws what `made` returns, once it is there.
 *
 * @param {string} name for scripts and tests
 * @param {string} heading
 * @param {() => Promise<Child[]>} made
 */
export async function show(name, heading, made) {
  const mine = ++turn;
  await attempt(async () => {
    const body = await made();
    if (mine !== turn) return;
    const h1 = el("h1", { tabindex: "-1" }, heading);
    part("screen").replaceChildren(...el("div", {}, h1, ...body).childNodes);
    /** @type {HTMLElement} */ (document.querySelector("main")).dataset.screen = name;
    document.title = heading;
    h1.focus({ preventScroll: true });
  });
}

/** @param {() => Promise<unknown>} work */
export async function attempt(work) {
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

/** @param {string} sentence */
export function say(sentence) {
  part("status").textContent = sentence;
}

/** @param {unknown} error */
function problem(error) {
  if (!(error instanceof Refused)) return String(error);
  /** @type {Record<number, TextKey>} */
  const known = { 0: "error.network", 401: "key.refused", 403: "error.scope", 429: "error.limit", 503: "error.busy" };
  return known[error.status] ? text(known[error.status]) : error.message;
}

/**
 * A button that is disabled until its work is done, so that a double click acts once.
 *
 * @param {string} name for scripts and tests
 * @param {() => Promise<unknown>} work
 * @param {{kind?: string, label?: string}} [look]
 */
export function button(name, work, { kind = "", label = named(name) } = {}) {
  const made = el("button", { type: "button", class: kind || null, "data-name": name, onclick: press }, label);
  return made;

  async function press() {
    made.disabled = true;
    await attempt(work);
    made.disabled = false;
  }
}

/** A button that asks first. @param {string} name @param {string} question @param {() => Promise<unknown>} work */
export function asking(name, question, work) {
  return button(name, async () => confirm(question) && (await work()), { kind: "bad" });
}

/** @param {...Child} children */
export function buttons(...children) {
  return el("div", { class: "buttons" }, ...children);
}

/**
 * A form whose submission calls a function with the values of its fields, and never navigates.
 *
 * @param {TextKey} action of the button
 * @param {(values: Record<string, string>) => Promise<unknown>} work
 * @param {...Child} children
 */
export function form(action, work, ...children) {
  const submit = el("button", { type: "submit", class: "main", "data-name": action }, text(action));
  const made = el("form", {}, ...children, buttons(submit));
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    const values = Object.fromEntries([...new FormData(made)].map(([name, value]) => [name, String(value).trim()]));
    await attempt(() => work(values));
    submit.disabled = false;
  });
  return made;
}

/** @param {TextKey} key @param {Record<string, any>} props of the input @param {TextKey} [hint] */
export function field(key, props, hint) {
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

/** @param {TextKey} key @param {string} name @param {string[]} words @param {string} [chosen] */
export function choice(key, name, words, chosen = "") {
  const id = `field-${name}`;
  const options = words.map((word) =>
    el("option", { value: word, selected: word === chosen }, word ? named(word) : text("any")),
  );
  return el("div", { class: "field" }, el("label", { for: id }, text(key)), el("select", { id, name }, ...options));
}

/** @param {string} id */
function part(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** One screen at a time: it is drawn, its heading takes the focus, and what happens is announced once. */

import { text } from "./language.js";
import { el } from "./nodes.js";
import { problem } from "./problems.js";

const SERVICE = document.querySelector('meta[name="application-name"]')?.getAttribute("content") ?? "Holdfast";
let title = "";
/** @type {(() => void) | null} */
let redraw = null;
/** What the present screen has to end when another one comes: timers, waiting requests. */
let ending = new AbortController();

export { SERVICE };

/**
 * @typedef {object} Screen
 * @property {string} name for scripts and tests
 * @property {string} heading
 * @property {(Node | string | null | false)[]} body
 * @property {boolean} [wide]
 * @property {boolean} [quiet] no focus: the first screen of a visit
 * @property {Element | null} [focus] what takes the focus instead of the heading
 * @property {() => void} [redraw] draws it anew, in another language
 */

/**
 * Draws a screen.
 *
 * @param {Screen} screen
 * @returns {AbortSignal} aborted when the screen goes
 */
export function show({ name, heading, body, wide = false, quiet = false, focus = null, redraw: again }) {
  ending.abort();
  ending = new AbortController();
  redraw = again ?? null;
  const main = /** @type {HTMLElement} */ (document.querySelector("main"));
  const h1 = el("h1", { tabindex: "-1" }, heading);
  main.classList.toggle("wide", wide);
  main.dataset.screen = name;
  place("screen").replaceChildren(h1, ...body.filter((part) => part !== null && part !== false).map((part) => /** @type {Node | string} */ (part)));
  title = heading;
  say("");
  alarm("");
  if (!quiet) {
    scrollTo(0, 0);
    /** @type {HTMLElement} */ (focus ?? h1).focus({ preventScroll: true });
  }
  return ending.signal;
}

/** Draws the present screen again, after the language changed. */
export function showAgain() {
  redraw?.();
}

/**
 * Says what happened, politely. Empty: nothing.
 *
 * @param {string} sentence
 */
export function say(sentence) {
  place("status").textContent = sentence;
}

/**
 * Says what is wrong, at once. Empty: nothing is.
 *
 * @param {string} sentence
 */
export function alarm(sentence) {
  place("alert").textContent = sentence;
  const shown = sentence ? text("title.error", { title }) : title;
  document.title = `${shown} – ${SERVICE}`;
  if (sentence) place("alert").scrollIntoView?.({ block: "nearest" });
}

/** @param {unknown} error */
export function tell(error) {
  say("");
  alarm(problem(error));
}

/**
 * Runs what a click began: its button is disabled meanwhile, so that a double click does it once; errors are told.
 *
 * @param {HTMLElement | null} pressed
 * @param {() => Promise<unknown>} work
 * @param {string} [meanwhile] said while it runs
 */
export async function run(pressed, work, meanwhile = "") {
  const buttons = pressed ? [.../** @type {NodeListOf<HTMLButtonElement>} */ (place("screen").querySelectorAll("button:not(:disabled)"))] : [];
  buttons.forEach((it) => (it.disabled = true));
  alarm("");
  say(meanwhile);
  try {
    await work();
    if (meanwhile && place("status").textContent === meanwhile) say("");
  } catch (error) {
    tell(error);
  } finally {
    buttons.forEach((it) => (it.disabled = false));
    if (pressed?.isConnected && document.activeElement === document.body) pressed.focus({ preventScroll: true });
  }
}

/** @param {string} id */
function place(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

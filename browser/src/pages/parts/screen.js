/** Shows one screen at a time: draws it, moves the focus to its heading, and announces events once. */

import { serviceName } from "../../kit/meta.js";
import { text } from "./language.js";
import { el } from "./nodes.js";
import { problem } from "./problems.js";

const SERVICE = serviceName() || "Holdfast";
let title = "";
/** @type {(() => void) | null} */
let redraw = null;
/** Counts the screens that were shown or began to be prepared. */
let turn = 0;
let again = false;
/** Called after each screen was drawn. */
let drawn = () => {};
/** Ends the timers and pending requests of the current screen when another replaces it. */
let ending = new AbortController();

export { SERVICE };

/**
 * @typedef {object} Screen
 * @property {string} name for scripts and tests
 * @property {string} heading
 * @property {(Node | string | null | false)[]} body
 * @property {boolean} [wide]
 * @property {boolean} [quiet] no focus: the first screen of a visit
 * @property {Element | null} [focus] what gets the focus instead of the heading
 * @property {() => void} [redraw] draws it again, in another language
 */

/** @param {() => void} then called after each screen was drawn */
export function whenDrawn(then) {
  drawn = then;
}

/**
 * Begins a screen that can be shown only after waiting, for example for the service. Meanwhile the person may have gone
 * to another screen, which the late one must not replace.
 *
 * @returns {() => boolean} whether it may still be shown: false once another screen was shown or began to be prepared
 */
export function preparing() {
  const mine = ++turn;
  return () => turn === mine;
}

/**
 * Draws a screen.
 *
 * @param {Screen} screen
 * @returns {AbortSignal} aborted when the screen is replaced
 */
export function show({ name, heading, body, wide = false, quiet = false, focus = null, redraw: drawAgain }) {
  ending.abort();
  ending = new AbortController();
  redraw = drawAgain ?? null;
  if (!again) turn += 1;
  const main = /** @type {HTMLElement} */ (document.querySelector("main"));
  const h1 = el("h1", { tabindex: "-1" }, heading);
  main.classList.toggle("wide", wide);
  main.dataset.screen = name;
  part("screen").replaceChildren(
    h1,
    ...body.filter((part) => part !== null && part !== false).map((part) => /** @type {Node | string} */ (part)),
  );
  title = heading;
  say("");
  alarm("");
  drawn();
  if (!quiet) {
    scrollTo(0, 0);
    /** @type {HTMLElement} */ (focus ?? h1).focus({ preventScroll: true });
  }
  return ending.signal;
}

/** Redraws the current screen after the language has changed. A screen that is being prepared still replaces it. */
export function showAgain() {
  again = true;
  try {
    redraw?.();
  } finally {
    again = false;
  }
}

/**
 * Announces what happened, without interrupting a screen reader. An empty sentence clears the announcement.
 *
 * @param {string} sentence
 */
export function say(sentence) {
  part("status").textContent = sentence;
}

/**
 * Announces immediately what is wrong. An empty sentence clears the announcement.
 *
 * @param {string} sentence
 */
export function alarm(sentence) {
  part("alert").textContent = sentence;
  const shown = sentence ? text("title.error", { title }) : title;
  document.title = `${shown} – ${SERVICE}`;
  if (sentence) part("alert").scrollIntoView?.({ block: "nearest" });
}

/** @param {unknown} error */
export function tell(error) {
  say("");
  alarm(problem(error));
}

/**
 * Runs a button's action. Buttons are disabled until the action ends, so a double click acts only once; errors are
 * announced.
 *
 * @param {HTMLElement | null} pressed
 * @param {() => Promise<unknown>} work
 * @param {string} [meanwhile] announced while it is running
 */
export async function run(pressed, work, meanwhile = "") {
  const buttons = pressed
    ? [.../** @type {NodeListOf<HTMLButtonElement>} */ (part("screen").querySelectorAll("button:not(:disabled)"))]
    : [];
  buttons.forEach((it) => (it.disabled = true));
  alarm("");
  say(meanwhile);
  try {
    await work();
    if (meanwhile && part("status").textContent === meanwhile) say("");
  } catch (error) {
    tell(error);
  } finally {
    buttons.forEach((it) => (it.disabled = false));
    if (pressed?.isConnected && document.activeElement === document.body) pressed.focus({ preventScroll: true });
  }
}

/** @param {string} id */
function part(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** Shows one screen at a time: draws it, moves the focus to its heading, and announces events once. */

import { focusAgain } from "../../kit/focus.ts";
import { serviceName } from "../../kit/meta.ts";
import { text } from "./language.ts";
import { el } from "./nodes.ts";
import { problem } from "./problems.ts";

const SERVICE = serviceName() || "Holdfast";
let title = "";
let redraw: (() => void) | null = null;
/** Counts the screens that were shown or began to be prepared. */
let turn = 0;
/** the turn of the screen that is shown */
let turnShown = 0;
let again = false;
/** Called after each screen was drawn. */
let drawn = () => {};
/** How many actions of buttons are running. */
let running = 0;
/** Ends the timers and pending requests of the current screen when another replaces it. */
let ending = new AbortController();

export { SERVICE };

interface Screen {
  /** for scripts and tests */ name: string;
  heading: string;
  body: (Node | string | null | false)[];
  wide?: boolean;
  /** no focus: the first screen of a visit */ quiet?: boolean;
  /** what gets the focus instead of the heading */ focus?: Element | null;
  /** draws it again, in another language */ redraw?: () => void;
}

/** @param then called after each screen was drawn */
export function whenDrawn(then: () => void) {
  drawn = then;
}

/**
 * Begins a screen that can be shown only after waiting, for example for the service. Meanwhile the person may have gone
 * to another screen, which the late one must not replace.
 *
 * @returns whether it may still be shown: false once another screen was shown or began to be prepared
 */
export function preparing(): () => boolean {
  const mine = ++turn;
  return () => turn === mine;
}

/**
 * Draws a screen.
 *
 * @returns aborted when the screen is replaced
 */
export function show({
  name,
  heading,
  body,
  wide = false,
  quiet = false,
  focus = null,
  redraw: drawAgain,
}: Screen): AbortSignal {
  ending.abort();
  ending = new AbortController();
  redraw = drawAgain ?? null;
  if (!again) turnShown = turn += 1;
  const main = document.querySelector("main") as HTMLElement;
  const h1 = el("h1", { tabindex: "-1" }, heading);
  main.classList.toggle("wide", wide);
  main.dataset.screen = name;
  part("screen").replaceChildren(h1, ...body.filter((part) => part !== null && part !== false));
  title = heading;
  say("");
  alarm("");
  drawn();
  if (!quiet) {
    scrollTo(0, 0);
    ((focus ?? h1) as HTMLElement).focus({ preventScroll: true });
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

/** Announces what happened, without interrupting a screen reader. An empty sentence clears the announcement. */
export function say(sentence: string) {
  part("status").textContent = sentence;
}

/** Announces immediately what is wrong. An empty sentence clears the announcement. */
export function alarm(sentence: string) {
  part("alert").textContent = sentence;
  const shown = sentence ? text("title.error", { title }) : title;
  document.title = `${shown} – ${SERVICE}`;
  if (sentence) part("alert").scrollIntoView?.({ block: "nearest" });
}

export function tell(error: unknown) {
  say("");
  alarm(problem(error));
}

/**
 * Runs a button's action. Buttons are disabled until the action ends, so a double click acts only once; errors are
 * announced.
 *
 * @param meanwhile announced while it is running
 */
export async function run(pressed: HTMLElement | null, work: () => Promise<unknown>, meanwhile: string = "") {
  const buttons = pressed ? [...part("screen").querySelectorAll<HTMLButtonElement>("button:not(:disabled)")] : [];
  buttons.forEach((it) => (it.disabled = true));
  alarm("");
  say(meanwhile);
  running += 1;
  try {
    await work();
    if (meanwhile && part("status").textContent === meanwhile) say("");
  } catch (error) {
    tell(error);
  } finally {
    running -= 1;
    buttons.forEach((it) => (it.disabled = false));
    focusAgain(pressed);
  }
}

/**
 * Says that the service is slow, if the person waits for what a button does or for a screen.
 *
 * @returns says again what was said before
 */
export function saySlow(): () => void {
  const before = part("status").textContent;
  if (running || turn !== turnShown) say(text("slow"));
  return () => part("status").textContent === text("slow") && say(before);
}

function part(id: string) {
  return document.getElementById(id) as HTMLElement;
}

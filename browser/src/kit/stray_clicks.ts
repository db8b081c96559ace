/** Protects a button that decides something from a click that was meant for something else. */

/** How long a button ignores clicks, so that the person can read it first. */
const READING_MS = 500;
const timers: WeakMap<Element, number> = new WeakMap();

/**
 * Makes a button ignore clicks for half a second, from when it appears or the window returns to the front. Unlike a
 * disabled button, it keeps the focus and can be reached with the keyboard.
 */
export function ignoreStrayClicks(button: Element) {
  clearTimeout(timers.get(button));
  button.ariaDisabled = "true";
  button.addEventListener("click", ignored, true); // before the button's own listener
  timers.set(button, Number(setTimeout(() => (button.ariaDisabled = null), READING_MS)));
}

function ignored(event: Event) {
  if ((event.currentTarget as Element).ariaDisabled) event.stopImmediatePropagation();
}

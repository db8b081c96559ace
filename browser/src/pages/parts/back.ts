/**
 * Lets the browser's Back do what the screen's own Back button does, instead of leaving the page. Each screen with such a
 * button has an entry in the history, which is added when the person goes there: browsers skip entries that a page adds
 * by itself.
 */

let last = "";
/** Whether the next screen is the one before, which has its entry already. */
let returning = false;

/** Adds an entry to the history for a new screen that has a Back button. */
export function noteScreen() {
  const { screen = "" } = (document.querySelector("main") as HTMLElement).dataset;
  if (ownButton() && screen !== last && !returning) history.pushState({ depth: depth() + 1 }, "");
  last = screen;
  returning = false;
}

/** How many of the history's entries up to the current one belong to screens with a Back button. */
export function depth(): number {
  return history.state?.depth ?? 0;
}

/**
 * Presses the screen's Back button after the browser went back. A busy screen stays.
 *
 * @returns false: the screen has none, or a link was opened
 */
export function wentBack(): boolean {
  const own = ownButton();
  if (!own || location.hash) return false;
  if (own.disabled) history.pushState({ depth: depth() + 1 }, "");
  else {
    returning = true;
    own.click();
  }
  return true;
}

/** Makes the person's click on the Back button go back in the history, which then presses the button. */
export function throughHistory(event: Event) {
  const own = ownButton();
  if (!event.isTrusted || depth() === 0 || !own?.contains(event.target as Node)) return;
  event.stopPropagation();
  history.back();
}

function ownButton(): HTMLButtonElement | null {
  return document.querySelector('#screen button[data-name="back"]');
}

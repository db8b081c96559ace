/** Keeps the keyboard's place. */

/** Focuses what was pressed again: browsers take the focus from a button that was disabled while it worked. */
export function focusAgain(pressed: HTMLElement | null) {
  if (pressed?.isConnected && document.activeElement === document.body) pressed.focus({ preventScroll: true });
}

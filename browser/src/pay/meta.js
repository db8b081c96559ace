/** Facts that the service puts in the payment page's head. */

/** @param {string} name */
export function meta(name) {
  return document.querySelector(`meta[name="holdfast-${name}"]`)?.getAttribute("content") ?? "";
}

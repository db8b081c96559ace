/** Reads the facts that the service puts into the payment page's meta elements. */

/** @param {string} name */
export function meta(name) {
  return document.querySelector(`meta[name="holdfast-${name}"]`)?.getAttribute("content") ?? "";
}

/** What the service says in the head of the payment page. */

/** @param {string} name */
export function meta(name) {
  return document.querySelector(`meta[name="holdfast-${name}"]`)?.getAttribute("content") ?? "";
}

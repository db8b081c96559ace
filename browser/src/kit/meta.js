/** Reads the facts that the service puts into a page's meta elements. */

/** @param {string} name without "holdfast-" @returns {string} empty if the page does not have it */
export function meta(name) {
  return named(`holdfast-${name}`);
}

/** Returns the service's name, as shown to people. */
export function serviceName() {
  return named("application-name");
}

/** @param {string} name */
function named(name) {
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? "";
}

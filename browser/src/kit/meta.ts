/** Reads the facts that the service puts into a page's meta elements. */

/** @param name without "holdfast-" @returns empty if the page does not have it */
export function meta(name: string): string {
  return named(`holdfast-${name}`);
}

/** Returns the service's name, as shown to people. */
export function serviceName() {
  return named("application-name");
}

function named(name: string) {
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? "";
}

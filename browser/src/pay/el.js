/** Creates elements without ever parsing text as HTML. */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [properties] `on…` handlers and DOM properties; names with a hyphen are attributes
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.includes("-")) made.setAttribute(name, String(value));
    else /** @type {any} */ (made)[name] = value;
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

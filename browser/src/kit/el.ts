/**
 * Creates elements without parsing HTML: strings become text nodes, so input from people or the service cannot add markup.
 */

export type Child = Node | string | null | undefined | false;

export type Props = Record<string, string | number | boolean | null | undefined | ((event: never) => unknown)>;

/** @param props attributes; functions become listeners (`onclick`), true an empty attribute, false and null none */
export function el<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
  const shown = children.filter((child) => child !== null && child !== undefined && child !== false);
  node.append(...shown);
  return node;
}

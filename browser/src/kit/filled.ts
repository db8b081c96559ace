/** Puts values into texts. */

/**
 * @param sentence of a text table
 * @param values that replace {name}
 */
export function filled(sentence: string, values: Record<string, string | number>) {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

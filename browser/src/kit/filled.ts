/** Puts values into texts. */

export type Values = Record<string, string | number | bigint | null>;

/**
 * @param sentence of a text table
 * @param values that replace {name}
 */
export function filled(sentence: string, values: Values) {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/** Puts values into texts. */

/**
 * @param {string} sentence of a text table
 * @param {Record<string, string | number>} values that replace {name}
 */
export function filled(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/** Spans of time as people say them. */

import { language } from "../parts/language.js";

export const [HOUR, DAY] = [3600, 86_400];

/** @param {number} seconds @returns {string} in whole days, or else in hours */
export function duration(seconds) {
  const [unit, of] = seconds % DAY === 0 ? ["day", DAY] : ["hour", HOUR];
  const options = { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 1 };
  return new Intl.NumberFormat(language, /** @type {any} */ (options)).format(seconds / /** @type {number} */ (of));
}

/** Spans of time as people say them. */

import { language } from "../parts/language.ts";

export const [HOUR, DAY] = [3600, 86_400];

/** @returns in whole days, or else in hours */
export function duration(seconds: number): string {
  const [unit, of] = seconds % DAY === 0 ? (["day", DAY] as const) : (["hour", HOUR] as const);
  const options = { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language, options).format(seconds / of);
}

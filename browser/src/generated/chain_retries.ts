/** Written by `tools/browser_client.py` from `src/holdfast/wire/retries.py`, which describes the values; not edited by hand. */

export const DELAYS_MS = [200, 400];
export const STATUSES = [429, 500, 502, 503, 504];
export const WITHIN_MS = 5000;

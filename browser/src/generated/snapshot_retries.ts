/** Written by `tools/browser_client.py` from `src/holdfast/wire/retries.py`, which describes the values; not edited by hand. */

export const FINAL = ["ClientStateError", "SnapshotConflict", "403", "404", "405"];
export const MOST_USES = 6;
export const QUIET_MS = 2000;
export const LONGEST_QUIET_MS = 30000;
export const FIRST_MS = 5000;
export const LONGEST_MS = 900000;
export const PIN_LOOK_MS = 1000;
export const PIN_WITHIN_MS = 600000;
export const AFTER_FIRST_MS = 2000;
export const MAIN_MS = 10000;
export const ALL_MS = 30000;
export const OLDER = 10;

/** Written by `tools/browser_client.py` from `src/holdfast/wire/retries.py`, which describes the values; not edited by hand. */

export const ATTEMPTS = 3;
export const FIRST_MS = 200;
export const LONGEST_MS = 5000;
export const RULES = [
  { request: "reads", errors: ["bundler_not_configured", "guardian_not_configured", "indexer_not_configured", "workflow_not_configured"], most: 0 },
  { request: "reads", errors: ["no answer", "idempotency_key_in_use", "429", "502", "503", "504"], most: null },
  { request: "keyed", errors: ["no answer", "no answer in time"], most: 1 },
  { request: "keyed", errors: ["idempotency_key_in_use"], most: null },
];

/** Written by `tools/browser_client.py` from `src/holdfast/wire/retries.py`, which describes the values; not edited by hand. */

export const STATE_AGE_MS = 2100;
export const BLOCK_MS = 3000;
export const BLOCK_LOOK_MS = 500;
export const BLOCK_WITHIN_MS = 30000;
export const RECEIPT_WITHIN_MS = 120000;
export const RECEIPT_AGAIN_MS = 15000;
export const CLAIM_ATTEMPTS = 4;
export const BUDGET_ATTEMPTS = 8;
export const OWNER_LOOKS = 4;
export const STALE = ["AA25", "AA10", "AA20"];
export const NO_MONEY = ["AA21", "AA51"];
export const REPLACING = [9, 8];
export const REPLACED = 50;

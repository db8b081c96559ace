/** Written by `tools/browser_client.py` from `src/holdfast/chain/gas.py`, which describes the values; not edited by hand. */

export const BY_NAME = 10000n;
export const SECOND_P256 = 320000n;
export const WEBAUTHN_WITH_PRECOMPILE = 60000n;
export const WEBAUTHN = 600000n;
export const VERIFICATION = 120000n;
export const WITHOUT_PRECOMPILE = 300000n;
export const DEPLOYMENT = 200000n;
export const ENTRY_POINT = 120000n;
export const BYTE = 40n;
export const PERCENT = 110n;
export const NEW_ADDRESS = 25000n;
export const MORE_CALL_DATA = 1000n;

/** Written by `tools/browser_client.py` from `src/holdfast/wire/retries.py`, which describes the values; not edited by hand. */

export const CODE_ATTEMPTS = 5;
export const SPARE_MS = 5000;
export const REPEATED = ["credential_already_registered", "attestation_required"];
export const OF_ATTESTATION = ["attestation_invalid", "attestation_mismatch", "attestation_expired", "attestation_used"];

/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "0a7d64c3e435b6a228c2a1b2e7442e38660a0d4764274fcea7a06560d31cef65";

/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "ae50a050a514e1ea23259c52eb4135ac4d63a2cb0c2dd67ffd28f32c7797492f";

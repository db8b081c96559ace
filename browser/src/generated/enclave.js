/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "09c4846c26e259515accfaf16980e470e1d7d9b96bfa322b9223ab8b3d16b752";

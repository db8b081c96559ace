/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "25903f438660b8116caab814a482db6d4cf961ff1c0281ef91495ec60d432c6e";

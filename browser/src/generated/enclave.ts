/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "96fddb9b7ef50ee4557f55c844f5ca0719a32d456f667ca12bf7f5a7a56abf5b";

/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "7ce888179ae73a6d317b9a18e2bb72e547a94746f4b7ea6e22a6b6cb17b82140";

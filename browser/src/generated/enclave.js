/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "b31b1fa2a8aa171bf33c7b0cd4a83f178a68bdffa12e7d8896aaaf3c8144e0da";

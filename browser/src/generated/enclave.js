/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "67bf6406d42c31de9b777152b75b1bcd05c13cb8b7c4885d1ef90b8f0962dfa5";

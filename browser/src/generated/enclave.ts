/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "f8f50b11657161c75c2e98a25b9d2cc51856111a779e97c9268ef839ddd72061";

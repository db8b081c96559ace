/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "44530cc8a393ddc02998d21f8daf3e84a8eebf83ebea057fca2f3221fb6228b7";

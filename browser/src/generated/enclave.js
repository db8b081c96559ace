/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "525018a415620a202bee56cdeb3af0acf04fddf6cd212c798274236b7d7acb77";

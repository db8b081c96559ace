/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "652ce5b272908a2899a26cb68df8a58c4118dcece6b406142294cc14475b7e88";

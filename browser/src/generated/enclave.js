/** Written by `tools/browser_client.py` from `enclave/enclave.sha256`; not edited by hand. */

/** SHA-256 of the enclave module that this release was built with. */
export const ENCLAVE_SHA256 = "a5685de2efdec5da13405f3fd28ee2284a9af5d1e95eaf34ee0e9132641f0d02";

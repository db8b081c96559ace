"""Where the enclave that the service hands out comes from."""

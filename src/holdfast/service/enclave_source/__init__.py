"""The enclave that the service serves, and where it comes from."""

"""The enclave that the service hands out, and its sources."""

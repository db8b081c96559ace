"""The enclave module that the service serves, and the sources from which the module can come."""

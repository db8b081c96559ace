"""The local enclave and its vault: calls, the keys that open the vault, and boot."""

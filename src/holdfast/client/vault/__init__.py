"""The local enclave and its vault: calls, the keys that unlock the vault, and boot."""

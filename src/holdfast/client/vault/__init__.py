"""The local enclave and the vault in it: calls, keys that open it, and boot."""

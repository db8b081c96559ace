"""The local enclave and its vault: the enclave's calls, the keys that unlock the vault, and booting."""

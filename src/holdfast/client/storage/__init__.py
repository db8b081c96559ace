"""Vault storage: the local store, content-addressed snapshots, IPFS gateways as a fallback, and pinning."""

"""Storage of vaults: the local store, content-addressed snapshots, an IPFS gateway as fallback, and pins."""

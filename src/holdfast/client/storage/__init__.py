"""Where vaults rest: the local store, snapshots by content, the gateway fallback, and pins."""

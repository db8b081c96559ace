"""A vault's snapshots outside this machine: uploaded after each change, published under a name, and recovered."""

"""A vault's snapshots outside this machine: kept, named, brought up to date by themselves, and recovered."""

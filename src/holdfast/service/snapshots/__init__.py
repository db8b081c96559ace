"""Where the blocks of kept snapshots lie: a port, and object storage behind it."""

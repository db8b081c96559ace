"""Storage for snapshot blocks: a port, and its implementation on object storage."""

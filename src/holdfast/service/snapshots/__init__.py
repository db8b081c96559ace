"""The storage of snapshot blocks: a port, and its implementation on object storage."""

"""`holdfast dev`: a complete local chain with the service on it, on loopback. Never for a real chain."""

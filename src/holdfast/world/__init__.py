"""`holdfast dev`: a complete local chain with the service, on loopback. It must never be used with a real chain."""

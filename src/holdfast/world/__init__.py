"""`holdfast dev`: a complete chain world on loopback, with the service on it. Never for a real chain."""

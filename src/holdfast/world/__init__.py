"""`holdfast dev`: a complete local chain with the service, on loopback.

This package must never be used with a real chain.
"""

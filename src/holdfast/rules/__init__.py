"""Pure functions that make decisions based on the facts that they are given.

The functions never wait, and read no clock, random numbers or environment variables.
"""

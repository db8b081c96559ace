"""Pure functions that make decisions from facts.

The functions do not wait, and use no clock, randomness or environment.
"""

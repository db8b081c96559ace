"""Pure functions that decide from facts. The functions do not wait, and use no clock, randomness or environment."""

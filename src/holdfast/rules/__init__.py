"""Pure functions that decide from facts. They do not wait, and use no clock, randomness or environment."""

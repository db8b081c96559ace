"""Decisions without side effects: facts in, decision out. No waiting, clock, randomness or environment."""

"""Decisions without side effects: no waiting, clock, randomness or environment. Facts in, decision out."""

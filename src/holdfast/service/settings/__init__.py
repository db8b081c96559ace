"""The settings table, and settings and secrets read from the environment."""

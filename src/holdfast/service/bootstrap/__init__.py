"""Builds the application from settings and secrets, and chooses every provider. No other room chooses providers."""

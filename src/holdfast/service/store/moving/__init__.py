"""Moves an installation from its SQLite file to PostgreSQL, also while it serves."""

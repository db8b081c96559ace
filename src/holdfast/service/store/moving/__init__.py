"""Moves an installation from its SQLite file to PostgreSQL, even while it is serving."""

"""Moves an installation from its SQLite file to PostgreSQL, even while the service is running."""

"""Tells which texts PostgreSQL can store."""

from __future__ import annotations


def storable(text: str) -> bool:
    """Return whether PostgreSQL can store a text, which must not contain a NUL.

    No row can contain any other text.
    """
    return "\0" not in text

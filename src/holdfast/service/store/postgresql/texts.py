"""Which texts PostgreSQL can store."""

from __future__ import annotations


def storable(text: str) -> bool:
    """Return whether PostgreSQL can store a text, which must contain no zero byte. Other texts cannot be in it."""
    return "\0" not in text

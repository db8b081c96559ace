"""What PostgreSQL can hold as text."""

from __future__ import annotations


def storable(text: str) -> bool:
    """Whether PostgreSQL can hold a text: no zero byte. What it cannot hold is not there."""
    return "\0" not in text

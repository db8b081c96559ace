"""The asynchronous object behind a blocking one, for tests that change or call what only it has."""

from __future__ import annotations

from typing import Any


def asynchronous(blocking: Any) -> Any:
    """Return the object that the generated blocking client, vault or pairing server calls."""
    return blocking._asynchronous

"""The text of a message with a code."""

from __future__ import annotations


def message_of(code: str, host: str) -> str:
    """Return the text of a message whose last line binds the code to a host (https://wicg.github.io/sms-one-time-codes)."""
    bound = f"\n@{host} #{code}" if host else ""
    return f"Your code is {code}\n{bound}".rstrip("\n")

"""Handles as the service and the chain know them."""

from __future__ import annotations

from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.wire.errors import Refused


def canonical_handle(text: str) -> str:
    """The handle as the service knows it, which is the alias on the chain. Raises ValueError for what cannot be one."""
    try:
        return parse_identifier(text, Channel.HANDLE).key
    except Refused:
        raise ValueError("handle: not one that can be registered") from None

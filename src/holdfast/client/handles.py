"""The canonical form of handles, shared by the service and the chain."""

from __future__ import annotations

from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.wire.errors import Refused


def canonical_handle(text: str) -> str:
    """Return the canonical form of a handle, which is its alias on the chain. Raises ValueError for an invalid one."""
    try:
        return parse_identifier(text, Channel.HANDLE).key
    except Refused:
        raise ValueError("this handle cannot be registered: choose another") from None

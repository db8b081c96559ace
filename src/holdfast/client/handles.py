"""The canonical form of handles, which the service and the chain share."""

from __future__ import annotations

from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.wire.errors import Refused


def canonical_handle(text: str) -> str:
    """Return the canonical form of a handle, which is also its alias on the chain.

    Raises ValueError for an invalid handle.
    """
    try:
        return parse_identifier(text, Channel.HANDLE).key
    except Refused:
        raise ValueError("this handle cannot be registered: choose another") from None

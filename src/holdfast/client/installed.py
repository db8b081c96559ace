"""Whether devices can be paired over libp2p here, without the seconds that importing it takes."""

from __future__ import annotations

from importlib.util import find_spec

from holdfast.wire.client_errors import NetworkError

NOT_INSTALLED = "libp2p is not installed: it comes with holdfast-client[p2p] or holdfast[client]"
_NEEDED = ("libp2p", "trio", "multiaddr")


def require_libp2p() -> None:
    """Raises NetworkError where a package that a libp2p host is made of is not installed."""
    if not all(find_spec(name) for name in _NEEDED):
        raise NetworkError(NOT_INSTALLED)

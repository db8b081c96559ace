"""Checks whether the packages for pairing over libp2p are installed.

The packages are not imported, as that takes seconds.
"""

from __future__ import annotations

from importlib.util import find_spec

from holdfast.wire.client_errors import NetworkError

NOT_INSTALLED = "libp2p is not installed: install holdfast-client[p2p] or holdfast[client]"
_NEEDED = ("libp2p", "trio", "multiaddr")


def require_libp2p() -> None:
    """Raises NetworkError if a package that a libp2p host needs is not installed."""
    if not all(find_spec(name) for name in _NEEDED):
        raise NetworkError(NOT_INSTALLED)

"""Checks whether the packages for pairing over libp2p are installed.

The packages are not imported, as that takes seconds.
"""

from __future__ import annotations

from importlib.util import find_spec

from holdfast.wire.client_errors import NetworkError
from holdfast.wire.installing import install_command

_NEEDED = ("libp2p", "trio", "multiaddr")


def not_installed() -> str:
    """Return the message about missing packages, with the command that installs them."""
    return f"libp2p is not installed: {install_command('p2p', 'client')}"


def require_libp2p() -> None:
    """Raises NetworkError if a package that a libp2p host needs is not installed."""
    if not all(find_spec(name) for name in _NEEDED):
        raise NetworkError(not_installed())

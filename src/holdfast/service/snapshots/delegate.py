"""The multiaddr in a pin's `delegates`: the service's HTTP address with the peer ID that the Pinning API requires."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from holdfast.content.names import peer_id_of


def delegate_of(public_url: str, seed: bytes) -> str:
    """Return `public_url` as a multiaddr that ends in the peer ID of the Ed25519 key with this 32-byte seed."""
    parts = urlsplit(public_url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    peer = peer_id_of(Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw())
    return f"/{_host(parts.hostname or 'localhost')}/tcp/{port}{'/tls' if secure else ''}/http/p2p/{peer}"


def _host(host: str) -> str:
    try:
        return f"ip{ipaddress.ip_address(host).version}/{host}"
    except ValueError:
        return f"dns/{host}"

"""What a per-address limit applies to: an IPv4 address, an IPv6 /64, and the /48 that contains it."""

from __future__ import annotations

import hmac
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

NOWHERE = "local"  # a connection without an address, as over a Unix socket
_HOST_PREFIX_V6 = 64  # one host has a whole /64, so a limit per address would have no effect
_SITE_PREFIX_V6 = 48  # the prefix that one subscriber or tunnel commonly gets (RFC 6177)
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052, section 2.1
_LOW_32_BITS = 0xFFFFFFFF
_HASH_DIGITS = 24  # two of a billion addresses have the same hash with a probability of 10^-11


def subject_of(address: IPv4Address | IPv6Address | None) -> str:
    """Return the subject to which rate limits for an address apply.

    An IPv6 address that embeds an IPv4 address counts as that IPv4 address.
    """
    if address is None:
        return NOWHERE
    counted = embedded_ipv4(address) if isinstance(address, IPv6Address) else address
    if counted is not None:
        return str(counted)
    return str(IPv6Network((address, _HOST_PREFIX_V6), strict=False))


def embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address in a mapped, 6to4 (RFC 3056), Teredo (RFC 4380) or NAT64 (RFC 6052) address, or None."""
    if address.ipv4_mapped is not None or address.sixtofour is not None:
        return address.ipv4_mapped or address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    return IPv4Address(int(address) & _LOW_32_BITS) if address in _NAT64 else None


def network_of(subject: str) -> str | None:
    """Return the /48 that contains an IPv6 /64, or None for any other subject; of a hash, the hash of the /48."""
    head, slash, _ = subject.partition("/")
    if not slash:
        return None
    return _site_around(head) if ":" in head else head


class AddressHashes:
    """Replaces the subjects of limits by keyed hashes, so that no client address is stored.

    The hash of an IPv6 /64 begins with that of the /48 that contains it. Of a connection without an address the subject
    stays.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.of = lru_cache(4096)(self._hashed)

    def _hashed(self, subject: str) -> str:
        if subject == NOWHERE:
            return subject
        network, own = network_of(subject), self._digest(subject)
        return own if network is None else f"{self._digest(network)}/{own}"

    def _digest(self, text: str) -> str:
        return hmac.digest(self._key, text.encode(), "sha256").hex()[:_HASH_DIGITS]


@lru_cache(4096)
def _site_around(host: str) -> str:
    return str(IPv6Network((ip_address(host), _SITE_PREFIX_V6), strict=False))


def subject_of_text(text: str) -> str:
    """Return the subject of an address as people write it. Raises ValueError for other texts."""
    return subject_of(ip_address(text.partition("/")[0]))

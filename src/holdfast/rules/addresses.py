"""What a per-address limit applies to: an IPv4 address, an IPv6 /64, and the /48 that contains it."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

NOWHERE = "local"  # a connection without an address, as over a Unix socket
_HOST_PREFIX_V6 = 64  # one host has a whole /64, so a limit per address would have no effect
_SITE_PREFIX_V6 = 48  # the prefix that one subscriber or tunnel commonly gets (RFC 6177)
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052, section 2.1
_LOW_32_BITS = 0xFFFFFFFF


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
    """Return the /48 that contains an IPv6 /64, or None for any other subject."""
    return _site_around(subject.partition("/")[0]) if "/" in subject else None


@lru_cache(4096)
def _site_around(host: str) -> str:
    return str(IPv6Network((ip_address(host), _SITE_PREFIX_V6), strict=False))

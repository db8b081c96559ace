"""The client's address, to which the per-address limits apply (interface: Authentication, 1)."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from socket import AF_INET, inet_pton
from typing import TYPE_CHECKING

from holdfast.rules.addresses import subject_of
from holdfast.service.http.messages import UNREADABLE
from holdfast.wire.errors import AMBIGUOUS_REQUEST, Refused

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request

    Networks = tuple[IPv4Network | IPv6Network, ...]

_MAX_HOPS = 32
_MAX_TEXT = 64  # longer than any address with a zone: longer texts are neither read nor cached


class ClientAddress:
    """Finds the client's address behind the proxies that the operator trusts."""

    def __init__(self, header: str | None, trusted: Networks) -> None:
        self._header = header
        self._trusted_v4 = [(int(n.network_address), int(n.netmask)) for n in trusted if isinstance(n, IPv4Network)]
        self._trusted = lru_cache(4096)(lambda address: _inside(address, trusted))

    def subject(self, request: Request) -> str:
        """Return the subject of limits: an IPv4 address, an IPv6 /64, or the IPv4 address in a tunnel address."""
        address = self._address(request)
        return address if _ipv4_bytes(address) else _subject(address)

    def is_trusted(self, request: Request) -> bool:
        """Return whether the request comes directly from one of the operator's proxies, whose headers are trusted."""
        return self._trusted(request.peer)

    def subject_of_peer(self, peer: str) -> str | None:
        """Return the subject of limits of a connection's other end; None for the operator's proxies."""
        return None if self._trusted(peer) else _subject(peer)

    def _address(self, request: Request) -> str:
        peer = request.peer
        if not self._trusted(peer):
            return peer
        if self._header is not None:
            # If the edge proxy appends to the header instead of replacing it, the edge proxy's entry is the last.
            *_, named = _listed(request, self._header)
            return named if _parse(named) else peer
        return self._beyond_proxies(request, peer)

    def _beyond_proxies(self, request: Request, peer: str) -> str:
        """Return the rightmost untrusted address in X-Forwarded-For; if none exists, the outermost trusted proxy."""
        values = request.header_values("x-forwarded-for")
        if len(values) == 1 and self._is_plain_client(values[0]):
            return values[0]
        nearest = peer
        for address in reversed(_listed(request, "x-forwarded-for")):
            if not _parse(address):
                return nearest
            nearest = address
            if not self._trusted(address):
                return nearest
        return nearest

    def _is_plain_client(self, text: str) -> bool:
        """Return whether the text is one IPv4 address and not a trusted proxy's: a fast check for the usual case."""
        packed = _ipv4_bytes(text)
        if packed is None:
            return False
        number = int.from_bytes(packed)
        for network, mask in self._trusted_v4:  # noqa: SIM110 - `all` of a generator takes twice as long
            if number & mask == network:
                return False
        return True


def _ipv4_bytes(text: str) -> bytes | None:
    """Return an IPv4 address's bytes; None for any other text. inet_pton is ten times as fast as `ip_address`."""
    try:
        return inet_pton(AF_INET, text)
    except (OSError, ValueError):
        return None


def _inside(text: str, networks: Networks) -> bool:
    address = _parse(text)
    return address is not None and any(address in network for network in networks)


@lru_cache(4096)
def _subject(text: str) -> str:
    return subject_of(_parse(text))


def _parse(text: str) -> IPv4Address | IPv6Address | None:
    return parse_short(text) if len(text) <= _MAX_TEXT else None


@lru_cache(4096)
def parse_short(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address in a text of a header, or None. The latest results are kept, so the text must be short."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    # Only IPv4-mapped addresses are unwrapped. The IPv4 address inside a tunnel address is chosen by the client, so it
    # must not count as a trusted proxy's.
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _listed(request: Request, header: str) -> list[str]:
    """Return the last addresses in the headers of this name, in order and without ports; [""] if none exists.

    Raises Refused if the value is unreadable: its client would count as the proxy.
    """
    values = request.header_values(header)
    if UNREADABLE in values:
        raise Refused(AMBIGUOUS_REQUEST)
    hops = ",".join(values).rsplit(",", _MAX_HOPS)
    return [_without_port(hop.strip()) for hop in hops]


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    host, colon, _port = hop.partition(":")
    return host if colon and "." in host and hop.count(":") == 1 else hop

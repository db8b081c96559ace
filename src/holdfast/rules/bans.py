"""Bans: names, DIDs, mail domains and networks for which no session is opened and nothing is registered.

A ban's subject is its kind and a value, such as `domain example.com`.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton

from holdfast.rules.dids import parse_did
from holdfast.rules.identifiers import Channel, Identifier, parse_identifier
from holdfast.rules.limits import DAY_S
from holdfast.wire.errors import IDENTIFIER_RESERVED, IP_LIMIT_REACHED, Refused


class BanKind(StrEnum):
    """What a ban is about."""

    NAME = "name"
    DID = "did"
    DOMAIN = "domain"
    NETWORK = "network"


# The lengths of prefixes that can be banned. A request counts for an IPv4 address or an IPv6 /64.
PREFIXES = {IPv4Network: range(8, 33), IPv6Network: range(16, 65)}
_MAX_LABELS = 16
_OCTET_MASKS = tuple((n, 256 - (256 >> n)) for n in range(1, 9))


def ban_subject(kind: str, value: str, channel: Channel = Channel.HANDLE) -> str:
    """Return the subject of a ban from an operator's words. Raises ValueError if the value is not of this kind."""
    if kind not in set(BanKind):
        raise ValueError(f"bans are of one of these: {', '.join(BanKind)}")
    try:
        return f"{kind} {_CANONICAL[BanKind(kind)](value, channel)}"
    except Refused as refused:
        raise ValueError(refused.row.error) from None


def subjects_of(identifier: Identifier, did: str, network: str) -> tuple[str, ...]:
    """Return the subjects of all bans that would concern a request.

    Args:
        identifier: what is registered.
        did: for whom.
        network: what limits apply to: an IPv4 address, an IPv6 /64, or neither.
    """
    subjects = [f"name {identifier.channel.value} {identifier.key}", f"did {did}", *_networks(network)]
    if identifier.channel is Channel.EMAIL:
        labels = identifier.key.rpartition("@")[2].split(".")[-_MAX_LABELS:]
        subjects += [f"domain {'.'.join(labels[n:])}" for n in range(len(labels))]
    return tuple(subjects)


def refuse_banned(subject: str | None) -> None:
    """Raise the refusal for a banned subject: of a network the limit by address, otherwise that of reserved names."""
    if subject is None:
        return
    if subject.startswith(BanKind.NETWORK):
        raise Refused(IP_LIMIT_REACHED, retry_after_s=DAY_S, limit="registrations")
    raise Refused(IDENTIFIER_RESERVED)


@lru_cache(4096)
def _networks(network: str) -> tuple[str, ...]:
    # `ip_network(…).supernet` takes twenty times as long.
    host, _, _ = network.partition("/")
    try:
        return _around_v6(inet_pton(AF_INET6, host)) if ":" in host else _around_v4(inet_pton(AF_INET, host))
    except OSError:  # a connection without an address
        return ()


def _around_v4(packed: bytes) -> tuple[str, ...]:
    a, b, c, d = packed
    return (
        f"network {a}.0.0.0/8",
        *[f"network {a}.{b & mask}.0.0/{8 + n}" for n, mask in _OCTET_MASKS],
        *[f"network {a}.{b}.{c & mask}.0/{16 + n}" for n, mask in _OCTET_MASKS],
        *[f"network {a}.{b}.{c}.{d & mask}/{24 + n}" for n, mask in _OCTET_MASKS],
    )


def _around_v6(packed: bytes) -> tuple[str, ...]:
    number, unset = int.from_bytes(packed), [(n, 128 - n) for n in PREFIXES[IPv6Network]]
    return tuple(f"network {inet_ntop(AF_INET6, (number >> m << m).to_bytes(16))}/{n}" for n, m in unset)


def _name(value: str, channel: Channel) -> str:
    parsed = parse_identifier(value, channel)
    return f"{parsed.channel.value} {parsed.key}"


def _did(value: str, _channel: Channel) -> str:
    return parse_did(value)


def _domain(value: str, _channel: Channel) -> str:
    return parse_identifier(f"a@{value.removeprefix('@')}", Channel.EMAIL).key[2:]


def _network(value: str, _channel: Channel) -> str:
    network = ip_network(value)
    if isinstance(network, IPv6Network) and "/" not in value:
        network = IPv6Network((network.network_address, PREFIXES[IPv6Network][-1]), strict=False)
    if network.prefixlen not in PREFIXES[type(network)]:
        first, last = PREFIXES[type(network)][0], PREFIXES[type(network)][-1]
        raise ValueError(f"the length of this network's prefix must be from {first} to {last}")
    return str(network)


_CANONICAL = {BanKind.NAME: _name, BanKind.DID: _did, BanKind.DOMAIN: _domain, BanKind.NETWORK: _network}

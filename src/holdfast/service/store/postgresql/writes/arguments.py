"""What the writes share: the form of a call, of its arguments and of keys."""

from __future__ import annotations

import random
import secrets
from typing import TYPE_CHECKING, TypeAlias

from holdfast.rules.addresses import network_of
from holdfast.rules.shards import shard_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asyncpg import Record

    from holdfast.rules.identifiers import Identifier

ClaimKey: TypeAlias = tuple[int, str, str]
TOTAL_SLOTS = 64
_EVENT_BITS = 63


def new_number() -> int:
    """Return a random number that identifies a code, or an event in a window."""
    return secrets.randbits(_EVENT_BITS)


def claim_key_of(identifier: Identifier) -> ClaimKey:
    """Return an identifier's shard, channel and key."""
    channel = identifier.channel.value
    return shard_of(channel, identifier.key), channel, identifier.key


def call(function: str, arguments: int) -> str:
    """Return the statement that calls a database function with this many arguments."""
    return f"SELECT * FROM holdfast.{function}({', '.join(f'${n}' for n in range(1, arguments + 1))})"  # noqa: S608 - our own names


def columns(rows: Iterable[Sequence[object]]) -> list[list[object]]:
    """Return the columns of these rows, in the form that `unnest` needs."""
    return [list(column) for column in zip(*rows, strict=True)]


def address_of(ip: str) -> tuple[str, int, str | None, int | None]:
    """Return an address and its network, each followed by its shard."""
    network = network_of(ip)
    return ip, shard_of(ip), network, None if network is None else shard_of(network)


def slot() -> int:
    """Return a random slot of the counter of all registrations."""
    return random.randrange(TOTAL_SLOTS)  # noqa: S311 - spreads writes, hides nothing


def nothing(batch: Sequence[object], _rows: list[Record]) -> list[None]:
    """Decode the result of a function that returns no rows."""
    return [None] * len(batch)

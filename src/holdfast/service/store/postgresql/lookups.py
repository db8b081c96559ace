"""Reads of many keys at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.rules.shards import shard_of
from holdfast.service.store.postgresql.batches import AnyKind, Kind
from holdfast.service.store.postgresql.writes.arguments import columns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from asyncpg import Record

    Encoder: TypeAlias = Callable[[Sequence[Any]], Sequence[object]]
    Decoder: TypeAlias = Callable[[Sequence[Any], list[Record]], list[Any]]


def keys(batch: Sequence[str]) -> list[list[object]]:
    """Return the arguments of a look-up by one text."""
    return columns([(shard_of(key), key) for key in batch])


def identifiers(batch: Sequence[tuple[str, str]]) -> list[list[object]]:
    """Return the arguments of a look-up by channel and key."""
    return columns([(shard_of(channel, key), channel, key) for channel, key in batch])


class RowByKey(NamedTuple):
    """A row that is looked up by its key.

    Attributes:
        wanted: columns of the table `t`.
        table: the table's name.
        key: the columns after `shard` that make up the key; `w` has the batch's values under the same names.
        also: a further condition.
        types: the types of the batch's arrays after the shards, if not all are texts; `w.v1` follows the key.
    """

    wanted: str
    table: str
    key: tuple[str, ...]
    also: str = ""
    types: tuple[str, ...] = ()

    @property
    def batch(self) -> str:
        """The batch's keys as the table `w`, each with its number `n`."""
        types = self.types or ("text",) * len(self.key)
        names = [*self.key, *(f"v{n}" for n in range(1, len(types) - len(self.key) + 1))]
        arrays = ", ".join(f"${n}::{kind}[]" for n, kind in enumerate(("smallint", *types), 1))
        return f"unnest({arrays}) WITH ORDINALITY AS w (shard, {', '.join(names)}, n)"

    @property
    def condition(self) -> str:
        """What a row of the table fulfils to be the row of a key."""
        same = (f"t.{column} = w.{column}" for column in ("shard", *self.key))
        return " AND ".join((*same, self.also) if self.also else same)


def look_up(name: str, row: RowByKey, encode: Encoder, decode: Decoder) -> AnyKind:
    """Return a kind of read that returns the rows found, after the number of their key.

    With LATERAL and LIMIT, a server looks each key up separately, however small the table was when it planned. Citus
    refuses that, and reads only the shards that a condition on `shard` names.
    """
    wanted, table = row.wanted, f"holdfast.{row.table} AS t"
    one = f"SELECT {wanted} FROM {table} WHERE {row.condition} LIMIT 1"  # noqa: S608 - our own names
    joined = f"{row.batch} JOIN {table} ON {row.condition} WHERE t.shard = ANY ($1)"
    return Kind(
        name,
        f"SELECT w.n, found.* FROM {row.batch} CROSS JOIN LATERAL ({one}) AS found",  # noqa: S608 - our own names
        encode,
        decode,
        repeatable=True,
        on_citus=f"SELECT w.n, {wanted} FROM {joined}",  # noqa: S608 - our own names
    )


def found(make: Callable[..., object], otherwise: object = None) -> Decoder:
    """Return a decoder that calls `make` with a row's columns after its number, which is that of the request."""

    def decode(batch: Sequence[Any], rows: list[Record]) -> list[Any]:
        results = [otherwise] * len(batch)
        for n, *row in rows:
            results[n - 1] = make(*row)
        return results

    return decode

"""The writes for stored snapshots. A batch calls one database function for each request, ordered by shard.

Because of this order, batches cannot deadlock. Each batch needs only one disk flush.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.service.store.postgresql.batches import Kind, value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asyncpg import Record

_MOST = 16  # a batch holds its locks until it ends


def _each(name: str, function: str, types: Sequence[str], *, repeatable: bool = False) -> Kind[Sequence[Any], Any]:
    """Return a kind of request that calls a database function, with the shard first; its result is a row or None."""
    arrays = ", ".join(f"${n}::{of}[]" for n, of in enumerate(types, 1))
    names = ", ".join(f"a{n}" for n in range(1, len(types) + 1))
    arguments = ", ".join(f"w.a{n}" for n in range(1, len(types) + 1))
    statement = (
        f"SELECT w.n, f.* FROM (SELECT * FROM unnest({arrays}) WITH ORDINALITY AS u ({names}, n) ORDER BY a1, n) AS w"  # noqa: S608 - our own names
        f" CROSS JOIN LATERAL holdfast.{function}({arguments}) AS f"
    )
    return Kind(name, statement, _columns, _rows, _MOST, repeatable)


def _columns(batch: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*batch, strict=True)]


def _rows(batch: Sequence[Any], rows: list[Record]) -> list[tuple[Any, ...] | None]:
    found = {row[0]: tuple(row)[1:] for row in rows}
    return [found.get(n) for n in range(1, len(batch) + 1)]


_DID = ("smallint", "text")
_TOKEN = ("smallint", "bytea", "text", "text")
BEGIN = _each("begin_upload", "snapshot_begin_v1", (*_DID, "text", "float8", "text", "bigint"))
INSERT_BLOCKS = _each("insert_blocks", "snapshot_insert_v1", (*_DID, "text", "text"), repeatable=True)
FINISH = _each(
    "finish_upload",
    "snapshot_finish_v1",
    (
        *_DID, "text", *_TOKEN, "text", "smallint", "bigint", "text",
        "float8", "text", "text", "float8", "float8", "text",
    ),
)  # fmt: skip
END = _each("end_upload", "snapshot_end_v1", (*_DID, "text"), repeatable=True)
ADD_PIN = _each(
    "add_pin",
    "snapshot_add_pin_v1",
    (*_DID, *_TOKEN, "text", "smallint", "text", "text", "bytea", "text", "text", "float8", "float8", "bigint"),
)
REMOVE_PIN = _each("remove_pin", "snapshot_remove_pin_v1", (*_DID, "text", "float8"))
REVOKE = value_of("revoke", "SELECT holdfast.snapshot_revoke_v1($1, $2, $3, $4, $5)", bool, repeatable=True)
PUBLISH = value_of(
    "publish", "SELECT holdfast.snapshot_publish_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)", bool
)
EXPIRE = value_of("expire snapshots", "SELECT holdfast.snapshot_expire_v1($1, $2, $3, $4)", int, repeatable=True)
EXPIRE_ORPHANS = value_of(
    "expire orphans", "SELECT holdfast.snapshot_expire_orphans_v1($1, $2, $3)", int, repeatable=True
)
EXPIRE_TOKENS = value_of("expire tokens", "SELECT holdfast.snapshot_expire_tokens_v1($1, $2)", int, repeatable=True)
COLLECTED = value_of(
    "collected",
    "WITH gone AS (DELETE FROM holdfast.snapshot_garbage AS t USING unnest($1::smallint[], $2::text[]) AS w (s, o)"
    " WHERE t.shard = w.s AND t.object = w.o AND t.shard = ANY ($1) RETURNING 1) SELECT count(*) FROM gone",
    int,
    repeatable=True,
)

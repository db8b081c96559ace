"""The reads for stored snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.rules.shards import shard_of
from holdfast.rules.snapshot_quotas import Usage
from holdfast.service.store.pin_rows import pin_of
from holdfast.service.store.postgresql.batches import Kind, row, rows_of
from holdfast.service.store.postgresql.lookups import RowByKey, found, keys, look_up
from holdfast.service.store.postgresql.writes.arguments import call, columns
from holdfast.service.store.snapshot_index import BlockLocation, StoredRecord, StoredRoot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asyncpg import Record

    from holdfast.rules.pins import Pin

_BY_KEY = "unnest($1::smallint[], $2::text[]) WITH ORDINALITY AS w (s, k, n)"
_MOST_SNAPSHOTS = 64  # of many blocks each


def _first_values(_batch: Sequence[Any], rows: list[Record]) -> list[Any]:
    return [row[0] for row in rows]


IS_REGISTERED = Kind(
    "is_registered",
    f"SELECT holdfast.did_stands_v1(w.s, w.k, false) FROM {_BY_KEY} ORDER BY w.n",  # noqa: S608 - our own names
    keys,
    _first_values,
    repeatable=True,
)
IS_CONFIRMED = Kind(
    "is_confirmed",
    f"SELECT holdfast.did_stands_v1(w.s, w.k, true) FROM {_BY_KEY} ORDER BY w.n",  # noqa: S608 - our own names
    keys,
    _first_values,
    repeatable=True,
)
IS_REVOKED = look_up(
    "is_revoked",
    RowByKey(
        "true", "snapshot_revocations", ("did",), "(t.cid IN (w.v1, w.v2) OR (t.cid = '' AND t.before >= w.v3))",
        ("text", "text", "text", "float8"),
    ),
    lambda batch: columns([(shard_of(did), did, cids[0], cids[-1], at) for did, cids, at in batch]),
    found(bool, otherwise=False),
)  # fmt: skip
USAGE = Kind(
    "usage",
    f"SELECT holdfast.snapshot_usage_v1(w.s, w.k, '') FROM {_BY_KEY} ORDER BY w.n",  # noqa: S608 - our own names
    keys,
    lambda _batch, rows: [Usage(*row[0]) for row in rows],
    repeatable=True,
)


def pin_of_row(row: Iterable[Any]) -> Pin:
    """Convert a row of holdfast.snapshot_pin_v1."""
    request_id, did, cid, name, *rest = row
    return pin_of((request_id, did, cid, None if name is None else name.decode(), *rest))


def _pins(_batch: Sequence[Any], rows: list[Record]) -> list[Pin | None]:
    return [None if row[0] is None else pin_of_row(row) for row in rows]


PIN = Kind(
    "pin",
    "SELECT p.* FROM unnest($1::smallint[], $2::text[], $3::text[]) WITH ORDINALITY AS w (s, k, r, n)"
    " LEFT JOIN LATERAL holdfast.snapshot_one_pin_v1(w.s, w.k, w.r) AS p ON true ORDER BY w.n",
    lambda batch: columns([(shard_of(did), did, request_id) for did, request_id in batch]),
    _pins,
    repeatable=True,
)
PINS = rows_of(
    "pins",
    "SELECT p.request_id, p.did, p.cid, p.name, p.origins, p.meta, p.state, p.created_us, r.size"
    " FROM holdfast.snapshot_pins AS p"
    " LEFT JOIN holdfast.snapshot_roots AS r ON r.shard = p.shard AND r.did = p.did AND r.cid = p.cid"
    " WHERE p.shard = $1 AND p.did = $2 ORDER BY p.created_us DESC",
    lambda *values: pin_of_row(values),
)
PUBLISHER = Kind(
    "publisher",
    f"SELECT holdfast.snapshot_publisher_v1(w.s, w.k) FROM {_BY_KEY} ORDER BY w.n",  # noqa: S608 - our own names
    keys,
    _first_values,
    repeatable=True,
)


def block_location(cid: str, number: int, size: int) -> BlockLocation:
    """Return where a block is stored, including the name of its object."""
    return BlockLocation(cid, f"{cid}.{number}", size)


BLOCK = look_up("block", RowByKey("t.cid, t.number, t.size", "snapshot_places", ("cid",)), keys, found(block_location))


def _roots(batch: Sequence[str], rows: list[Record]) -> list[StoredRoot | None]:
    return [
        None if did is None else StoredRoot(cid, did, tuple(map(block_location, cids, numbers, sizes)))
        for cid, (did, cids, numbers, sizes) in zip(batch, rows, strict=True)
    ]


ROOT = Kind(
    "root",
    "SELECT r.did, r.cids, r.numbers, r.sizes"  # noqa: S608 - our own names
    f" FROM {_BY_KEY} LEFT JOIN LATERAL holdfast.snapshot_root_v1(w.s, w.k) AS r ON true ORDER BY w.n",
    keys,
    _roots,
    _MOST_SNAPSHOTS,
    repeatable=True,
)


def record_of(
    did: str | None, root: str, sequence: int, validity_ns: str, ttl_ns: int, data: bytes
) -> StoredRecord | None:
    """Return the record in a row of snapshot_names; None for a row of NULLs."""
    return None if did is None else StoredRecord(did, root, sequence, int(validity_ns), ttl_ns, data)


RECORD = look_up(
    "record",
    RowByKey("t.did, t.root, t.sequence, t.validity_ns, t.ttl_ns, t.record", "snapshot_names", ("name",)),
    keys,
    found(record_of),
)
GARBAGE = rows_of("garbage", "SELECT object FROM holdfast.snapshot_garbage LIMIT $1", str)
TOTALS = rows_of(
    "totals",
    "SELECT coalesce(sum(snapshots), 0)::bigint, coalesce(sum(pins), 0)::bigint, coalesce(sum(bytes), 0)::bigint"
    " FROM holdfast.snapshot_shards",
    row,
)
FINISH_FACTS = rows_of("finish_facts", call("snapshot_finish_facts_v1", 11), row)
PIN_FACTS = rows_of("pin_facts", call("snapshot_pin_facts_v1", 9), row)
NAME_FACTS = rows_of(
    "name_facts",
    "SELECT owner_shard, owner, did, root, sequence, validity_ns, 0, record"
    " FROM holdfast.snapshot_name_facts_v1($1, $2, $3, $4)",
    row,
)

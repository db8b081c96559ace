"""The PostgreSQL store's reads."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from holdfast.rules.confirmation import NEVER
from holdfast.rules.limits import CONFIRM_AT_LEAST_EVERY_S
from holdfast.rules.one_time_codes import CountedAttempt
from holdfast.rules.registration import Claim, Stage
from holdfast.rules.shards import shard_of
from holdfast.service.store.history import IN_ONE_MOMENT
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql.batches import Kind, row, rows_of
from holdfast.service.store.postgresql.lookups import RowByKey, found, identifiers, keys, look_up
from holdfast.service.store.postgresql.writes.arguments import columns
from holdfast.service.store.values import PendingRegistration, RegisteredDid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asyncpg import Record

_STAGES = {stage.value: stage for stage in Stage}


CLAIM = look_up(
    "claim_of",
    RowByKey("t.did, t.stage", "identifiers", ("channel", "key")),
    identifiers,
    found(lambda did, stage: Claim(did, _STAGES[stage])),
)
CREDENTIAL = Kind(
    "find_credential",
    f"SELECT n, {', '.join(f'(found).{name}' for name in RegisteredDid.__struct_fields__)}"  # noqa: S608 - our own names
    " FROM holdfast.find_credentials_v1($1, $2)",
    keys,
    found(RegisteredDid),
    repeatable=True,
)
_counted = found(int, otherwise=0)
_OF_IP = look_up("registrations", RowByKey("t.registrations", "ip_counters", ("ip",)), keys, _counted)
_TOTAL = "SELECT 0, coalesce(sum(value), 0)::bigint FROM holdfast.totals WHERE name = 'registrations' UNION ALL "


def _counts(batch: Sequence[str], rows: list[Record]) -> list[tuple[int, int]]:
    (total,) = (value for n, value in rows if n == 0)
    return [(of_ip, total) for of_ip in _counted(batch, [row for row in rows if row[0] > 0])]


REGISTRATIONS = dataclasses.replace(
    _OF_IP, statement=_TOTAL + _OF_IP.statement, on_citus=_TOTAL + _OF_IP.on_citus, decode=_counts
)
VERIFIED = look_up(
    "verified_at", RowByKey("t.verified_at", "verifications", ("channel", "key")), identifiers, found(float)
)
KNOWN_KEY = look_up(
    "is_known",
    RowByKey("true", "idempotent_responses", ("key",), "t.expires_at > w.v1", ("bytea", "float8")),
    lambda batch: columns([(shard_of(key), key, now) for key, now in batch]),
    found(bool, otherwise=False),
)
CODE = look_up(
    "code_of",
    RowByKey("t.id, t.digest, t.expires_at, t.attempts", "codes", ("channel", "key")),
    identifiers,
    found(CountedAttempt),
)


# Each identifier's first due check comes before any second one, so that one identifier with many checks does not delay
# the others. The second SELECT of the UNION finds checks that were postponed too far, by a clock that ran ahead and has
# since been corrected.
_CANDIDATES = 5000  # considered for a run's order, which bounds the cost of a run
_PENDING = "WHERE confirmation = 'pending'"
_JUDGED = f"{_PENDING} AND ask_at < {NEVER}"
DUE = rows_of(
    "due",
    "SELECT credential, did, tx_hash, smart_account, channel, key, created_at, asked FROM ("  # noqa: S608 - our own figures
    "SELECT c.*, row_number() OVER (PARTITION BY shard, channel, key ORDER BY ask_at, created_at, credential) AS turn"
    " FROM (SELECT * FROM ("
    f"(SELECT * FROM holdfast.credentials {_PENDING} AND ask_at <= $1 ORDER BY ask_at LIMIT {_CANDIDATES}) UNION ALL "
    f"(SELECT * FROM holdfast.credentials {_PENDING} AND ask_at > $1 + {2 * CONFIRM_AT_LEAST_EVERY_S}"
    f" AND ask_at < {NEVER} ORDER BY ask_at LIMIT {_CANDIDATES})) AS candidates ORDER BY ask_at LIMIT {_CANDIDATES})"
    " AS c"
    ") AS turns ORDER BY turn, ask_at, created_at, credential LIMIT $2",
    PendingRegistration,
)
HOLDS_LEASE = rows_of(
    "holds_lease", "SELECT 1 FROM holdfast.leases WHERE name = $1 AND holder = $2 AND expires_at > $3", row
)
# The count is cheap: it reads only the index of pending registrations and stops at the limit.
PENDING = rows_of(
    "gauges",
    f"SELECT (SELECT count(*) FROM (SELECT 1 FROM holdfast.credentials {_JUDGED} LIMIT $1) AS counted),"  # noqa: S608 - our own condition
    f" (SELECT min(ask_at) FROM holdfast.credentials {_JUDGED}),"
    " (SELECT count(*) FROM (SELECT 1 FROM holdfast.outbox LIMIT $1) AS counted),"
    " (SELECT min(at) FROM holdfast.outbox)",
    row,
)
SERVER = rows_of(
    "gauges",
    "SELECT current_setting('synchronous_standby_names') <> '', extract(epoch FROM clock_timestamp())::float8",
    row,
)
# A temporary file of 224 KiB where the database's tables are. A write alone could fit into pages that exist.
# It returns no rows, but on Citus one for each worker that failed.
_ROOM = (
    "WITH small AS MATERIALIZED (SELECT"
    " set_config('work_mem', '64kB', true) || set_config('temp_tablespaces', '', true) AS settings)"
    " SELECT '' FROM small, LATERAL generate_series(1, 16384 * sign(length(settings))::int) HAVING count(*) = 0"
)


def _room(_batch: Sequence[Any], rows: list[Record]) -> list[StoreUnavailable | None]:
    return [StoreUnavailable("; ".join(error for (error,) in rows)) if rows else None]


ROOM = Kind(
    "ping",
    _ROOM,
    lambda batch: batch[0],
    _room,
    1,
    repeatable=True,
    on_citus=f"{_ROOM} UNION ALL SELECT nodename || ':' || nodeport || ': ' || result"  # noqa: S608 - our own statement
    f" FROM run_command_on_workers($room${_ROOM}$room$) WHERE NOT success",
)
# Without the role pg_monitor, the server does not reveal a standby's state.
STANDBYS = rows_of("gauges", "SELECT sync_state, count(*)::int FROM pg_catalog.pg_stat_replication GROUP BY 1", row)
_VERSION = "SELECT version, oldest FROM holdfast.schema_version"
VERSION = rows_of(
    "ping",
    _VERSION,
    row,
    # The count of no rows asks every server: only one that reaches them all is ready.
    on_citus=f"{_VERSION} WHERE (SELECT count(*) FROM holdfast.snapshot_shards WHERE shard < 0) = 0",  # noqa: S608 - our own names
)
IN_ORDER = f"at, array_position(ARRAY{list(IN_ONE_MOMENT)}, action)"


def _described(columns_read: str, table: str, order: str = "") -> Kind[Sequence[object], list[dict[str, object]]]:
    """Return a read of an identifier's rows in a table, each as a dictionary."""
    names = columns_read.split(", ")
    statement = f"SELECT {columns_read} FROM holdfast.{table} WHERE shard = $1 AND channel = $2 AND key = $3{order}"  # noqa: S608 - our own names
    return rows_of("describe", statement, lambda *values: dict(zip(names, values, strict=True)))


DESCRIPTION = {
    "claim": _described("channel, key, given, did, stage, created_at, registered_at, signed", "identifiers"),
    "credentials": _described(
        "credential, tx_hash, block_number, smart_account, created_at, confirmation, settled_at, signed",
        "credentials",
        " ORDER BY created_at, credential",
    ),
    "verifications": _described("verified_at", "verifications"),
    "history": _described("at, action, did, operator", "history", f" ORDER BY {IN_ORDER}, id"),
}

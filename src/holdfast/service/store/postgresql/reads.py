"""The PostgreSQL store's reads.

With LATERAL, the server looks each key up separately, and reads only the key's partition of a partitioned table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.rules.confirmation import NEVER
from holdfast.rules.limits import CONFIRM_AT_LEAST_EVERY_S
from holdfast.rules.one_time_codes import CountedAttempt
from holdfast.rules.registration import Claim, Stage
from holdfast.rules.shards import shard_of
from holdfast.service.store.history import IN_ONE_MOMENT
from holdfast.service.store.postgresql.batches import Kind
from holdfast.service.store.values import RegisteredDid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asyncpg import Record

_STAGES = {stage.value: stage for stage in Stage}


def _columns(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _identifiers(batch: Sequence[tuple[str, str]]) -> list[list[Any]]:
    return _columns([(shard_of(channel, key), channel, key) for channel, key in batch])


def _keys(batch: Sequence[str]) -> list[list[Any]]:
    return _columns([(shard_of(key), key) for key in batch])


def _claims(_batch: Sequence[Any], rows: list[Record]) -> list[Claim | None]:
    return [Claim(did, _STAGES[stage]) if did is not None else None for did, stage in rows]


CLAIM = Kind(
    "claim_of",
    "SELECT i.did, i.stage FROM unnest($1::smallint[], $2::text[], $3::text[]) WITH ORDINALITY AS w (s, c, k, n)"
    " LEFT JOIN LATERAL (SELECT did, stage FROM holdfast.identifiers AS t"
    " WHERE t.shard = w.s AND t.channel = w.c AND t.key = w.k LIMIT 1) AS i ON true ORDER BY w.n",
    _identifiers,
    _claims,
    repeatable=True,
)


def _registered(_batch: Sequence[Any], rows: list[Record]) -> list[RegisteredDid | None]:
    return [RegisteredDid(*row) if row[0] is not None else None for row in rows]


CREDENTIAL = Kind(
    "find_credential",
    f"SELECT {', '.join(f'c.{name}' for name in RegisteredDid.__struct_fields__)}"  # noqa: S608 - our own names
    " FROM unnest($1::smallint[], $2::text[]) WITH ORDINALITY AS w (s, k, n)"
    " LEFT JOIN LATERAL (SELECT identifier_shard, channel, key FROM holdfast.credential_places AS t"
    " WHERE t.shard = w.s AND t.credential = w.k LIMIT 1) AS p ON true"
    " LEFT JOIN LATERAL (SELECT * FROM holdfast.credentials AS t WHERE t.shard = p.identifier_shard"
    " AND t.channel = p.channel AND t.key = p.key AND t.credential = w.k LIMIT 1) AS c ON true ORDER BY w.n",
    _keys,
    _registered,
    repeatable=True,
)


def _counts(_batch: Sequence[Any], rows: list[Record]) -> list[tuple[int, int]]:
    return [(of_ip, int(total)) for of_ip, total in rows]


REGISTRATIONS = Kind(
    "registrations",
    "SELECT coalesce(i.registrations, 0), (SELECT coalesce(sum(value), 0) FROM holdfast.totals"
    " WHERE name = 'registrations') FROM unnest($1::smallint[], $2::text[]) WITH ORDINALITY AS w (s, k, n)"
    " LEFT JOIN LATERAL (SELECT registrations FROM holdfast.ip_counters AS t"
    " WHERE t.shard = w.s AND t.ip = w.k LIMIT 1) AS i ON true ORDER BY w.n",
    _keys,
    _counts,
    repeatable=True,
)


def _first_values(_batch: Sequence[Any], rows: list[Record]) -> list[Any]:
    return [row[0] for row in rows]


VERIFIED = Kind(
    "verified_at",
    "SELECT v.verified_at FROM unnest($1::smallint[], $2::text[], $3::text[]) WITH ORDINALITY AS w (s, c, k, n)"
    " LEFT JOIN LATERAL (SELECT verified_at FROM holdfast.verifications AS t"
    " WHERE t.shard = w.s AND t.channel = w.c AND t.key = w.k LIMIT 1) AS v ON true ORDER BY w.n",
    _identifiers,
    _first_values,
    repeatable=True,
)


KNOWN_KEY = Kind(
    "is_known",
    "SELECT EXISTS (SELECT 1 FROM holdfast.kept_answers AS t"
    " WHERE t.shard = w.s AND t.key = w.k AND t.expires_at > w.at)"
    " FROM unnest($1::smallint[], $2::bytea[], $3::float8[]) WITH ORDINALITY AS w (s, k, at, n) ORDER BY w.n",
    lambda batch: _columns([(shard_of(key), key, now) for key, now in batch]),
    _first_values,
    repeatable=True,
)


def _codes(_batch: Sequence[Any], rows: list[Record]) -> list[CountedAttempt | None]:
    return [CountedAttempt(*row) if row[0] is not None else None for row in rows]


CODE = Kind(
    "code_of",
    "SELECT v.id, v.digest, v.expires_at, v.attempts"
    " FROM unnest($1::smallint[], $2::text[], $3::text[]) WITH ORDINALITY AS w (s, c, k, n)"
    " LEFT JOIN LATERAL (SELECT * FROM holdfast.codes AS t"
    " WHERE t.shard = w.s AND t.channel = w.c AND t.key = w.k LIMIT 1) AS v ON true ORDER BY w.n",
    _identifiers,
    _codes,
    repeatable=True,
)


def _single(name: str, statement: str) -> Kind:
    """Return a kind of request that is never batched and whose result is the list of all rows."""
    return Kind(name, statement, lambda batch: batch[0], lambda _batch, rows: [rows], 1, repeatable=True)


# Each identifier's first due check comes before any second one, so that one identifier with many checks does not delay
# the others. The second SELECT of the UNION finds checks that were postponed too far, by a clock that ran ahead and has
# since been corrected.
_CANDIDATES = 5000  # considered for a run's order, which bounds the cost of a run
_PENDING = "WHERE confirmation = 'pending'"
_JUDGED = f"{_PENDING} AND ask_at < {NEVER}"
DUE = _single(
    "due",
    "SELECT credential, did, tx_hash, smart_account, channel, key, created_at, asked FROM ("  # noqa: S608 - our own figures
    "SELECT c.*, row_number() OVER (PARTITION BY shard, channel, key ORDER BY ask_at, created_at, credential) AS turn"
    " FROM (SELECT * FROM ("
    f"(SELECT * FROM holdfast.credentials {_PENDING} AND ask_at <= $1 ORDER BY ask_at LIMIT {_CANDIDATES}) UNION ALL "
    f"(SELECT * FROM holdfast.credentials {_PENDING} AND ask_at > $1 + {2 * CONFIRM_AT_LEAST_EVERY_S}"
    f" AND ask_at < {NEVER} ORDER BY ask_at LIMIT {_CANDIDATES})) AS candidates ORDER BY ask_at LIMIT {_CANDIDATES})"
    " AS c"
    ") AS turns ORDER BY turn, ask_at, created_at, credential LIMIT $2",
)
HOLDS_LEASE = _single(
    "holds_lease", "SELECT 1 FROM holdfast.leases WHERE name = $1 AND holder = $2 AND expires_at > $3"
)
# The count is cheap: it reads only the index of pending registrations and stops at the limit.
PENDING = _single(
    "gauges",
    f"SELECT (SELECT count(*) FROM (SELECT 1 FROM holdfast.credentials {_JUDGED} LIMIT $1) AS counted),"  # noqa: S608 - our own condition
    f" (SELECT min(ask_at) FROM holdfast.credentials {_JUDGED}),"
    " (SELECT count(*) FROM (SELECT 1 FROM holdfast.outbox LIMIT $1) AS counted),"
    " (SELECT min(at) FROM holdfast.outbox)",
)
SERVER = _single(
    "gauges",
    "SELECT current_setting('synchronous_standby_names') <> '', extract(epoch FROM clock_timestamp())::float8",
)
# Without the role pg_monitor, the server does not reveal a standby's state.
STANDBYS = _single("gauges", "SELECT sync_state, count(*)::int FROM pg_catalog.pg_stat_replication GROUP BY 1")
VERSION = _single("ping", "SELECT version, oldest FROM holdfast.schema_version")
_OF_IDENTIFIER = "WHERE shard = $1 AND channel = $2 AND key = $3"
DESCRIPTION = {
    "claim": _single(
        "describe",
        f"SELECT channel, key, given, did, stage, created_at, registered_at FROM holdfast.identifiers {_OF_IDENTIFIER}",  # noqa: S608 - our own condition
    ),
    "credentials": _single(
        "describe",
        "SELECT credential, tx_hash, block_number, smart_account, created_at, confirmation, settled_at"  # noqa: S608 - our own condition
        f" FROM holdfast.credentials {_OF_IDENTIFIER} ORDER BY created_at, credential",
    ),
    "verifications": _single("describe", f"SELECT verified_at FROM holdfast.verifications {_OF_IDENTIFIER}"),  # noqa: S608 - our own condition
    "history": _single(
        "describe",
        f"SELECT at, action, did, operator FROM holdfast.history {_OF_IDENTIFIER}"  # noqa: S608 - our own condition
        f" ORDER BY at, array_position(ARRAY{list(IN_ONE_MOMENT)}, action), id",
    ),
}

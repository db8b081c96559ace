"""No list or count that an operator asks for reads a whole table: each statement searches the index for its filter."""

import re
from contextlib import closing

import asyncpg

from holdfast.service.operations.administration import search_of
from holdfast.service.store.postgresql import administration as postgresql
from holdfast.service.store.postgresql import operator_records as postgresql_records
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.sqlite import administration as sqlite
from holdfast.service.store.sqlite import operator_records as sqlite_records
from holdfast.service.store.sqlite.schema import connect
from holdfast.service.store.sqlite.store import SqliteStore
from holdfast.wire.admin_endpoints import ListIdentifiers

NEXT = '[1.5,"handle","m"]'
NEWEST, NAME, DID = "identifiers_created", "identifiers_name", "identifiers_did_end"
# Filters, and the index that finds what they are about. State, channel and address filter the newest, of which a page
# examines a limited number.
FILTERS = (
    ({}, NEWEST), ({"after": NEXT}, NEWEST), ({"day": "2026-11-24"}, NEWEST),
    ({"day": "2026-11-24", "after": NEXT}, NEWEST), ({"state": "pending"}, NEWEST), ({"channel": "sms"}, NEWEST),
    ({"address": "192.0.2.1"}, NEWEST), ({"prefix": "an"}, NAME), ({"prefix": "an", "after": NEXT}, NAME),
    ({"did": "did:a:1"}, DID),
)  # fmt: skip
ROWS = (
    "INSERT INTO holdfast.identifiers (shard, channel, key, given, did, stage, ip, created_at, in_audit)"
    " SELECT n % 4096, 'handle', md5(n::text), '', 'did:a:' || n, 'session', '', n, false FROM generate_series(1, 3000) n"
)

MANY = (
    "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 4000) INSERT INTO identifiers (channel,"
    " key, given, did, stage, ip, created_at, in_audit) SELECT 'handle', printf('k%05d', n), '', 'did:a:' || n,"
    " 'registered', '', n * 60, 0 FROM c"
)
EMPTY = ({"prefix": "zz"}, {"day": "2026-11-24"})
PAGES = (
    *EMPTY, {}, {"after": '[120000,"handle","k02000"]'}, {"prefix": "k038"}, {"day": "1970-01-02"},
    {"prefix": "k0", "after": '[1,"handle","k02000"]'}, {"day": "1970-01-02", "after": '[120000,"handle","k02000"]'},
)  # fmt: skip


def scans():
    named = {name for given, _ in FILTERS for name in given}
    assert named == set(ListIdentifiers.__struct_fields__) - {"limit"}, "each filter is examined"
    return [(search_of(given, str).scan, index) for given, index in FILTERS]


async def test_the_embedded_store_scans_no_table(tmp_path):
    await SqliteStore(tmp_path / "holdfast.db").close()
    own = {NAME: "identifiers_key", DID: "credentials_did_end"}
    asked = [(*sqlite.query_of(scan, 50), own.get(index, index)) for scan, index in scans()]
    asked += [(sqlite.COUNT, (0, 1), NEWEST), (sqlite.ACTS, (1, 1, 50), "audit_acts")]
    asked += [(sqlite.BANS, ("", 50), "PRIMARY KEY")]
    asked += [(sqlite_records.NEWEST_INVITATIONS, (1, "", 50), "invitations_made")]
    with closing(connect(tmp_path / "holdfast.db")) as connection:
        for statement, values, index in asked:
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
            assert any(step.startswith("SEARCH") and index in step for step in plan), (statement, plan)
            assert not any(step.startswith("SCAN") for step in plan), (statement, plan)


async def test_the_work_for_a_page_does_not_grow_with_the_table(tmp_path):
    await SqliteStore(tmp_path / "holdfast.db").close()
    with closing(connect(tmp_path / "holdfast.db")) as connection:
        connection.execute(MANY)
        for given in PAGES:
            statement, values = sqlite.query_of(search_of(given, str).scan, 20)
            steps = Steps()
            connection.set_progress_handler(steps.count, 100)
            found = connection.execute(statement, values).fetchall()
            assert len(found) == (0 if given in EMPTY else 20) and steps.hundreds < 40, (given, steps.hundreds)


class Steps:
    hundreds = 0

    def count(self):
        self.hundreds += 1
        return 0


async def test_postgresql_scans_no_table(postgres_url, patient_stores):
    await PostgresqlDatabase(postgres_url).open().close()
    asked = [
        *((*postgresql.query_of(scan, 50), index) for scan, index in scans()),
        (postgresql.COUNT, (0.0, 1.0), NEWEST),
        (postgresql.ACTS, (1.0, "f" * 32, 50), "audit_acts"),
        (postgresql.BANS, ("", 50), "bans_pkey"),
        (postgresql_records.INVITATIONS, (1.0, "", 50), "invitations_made"),
    ]
    connection = await asyncpg.connect(postgres_url)
    try:
        await connection.execute(f"SET enable_seqscan = off; {ROWS}; ANALYZE holdfast.identifiers")
        for kind, values, index in asked:
            plan = "\n".join(row[0] for row in await connection.fetch(f"EXPLAIN {kind.statement}", *values))
            assert re.search(rf"Scan.* (?:using|on) {index}\b", plan), (kind.statement, plan)
            assert "Seq Scan" not in plan, (kind.statement, plan)
    finally:
        await connection.close()

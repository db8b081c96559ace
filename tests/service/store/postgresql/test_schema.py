"""Migrations run once, on one node, while others serve; a newer release's contracting step locks older nodes out."""

import asyncio
import re
from itertools import pairwise
from pathlib import Path

import asyncpg
import msgspec
import pytest
from tests.support.store_cases import admit, handle, registration, session

from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import Ceilings, Limits
from holdfast.rules.registration import Move, RegistrationFacts, RegistrationRequest, RegistrationRule
from holdfast.service.store.database import SchemaTooNew
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql import schema
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.backfill import Backfill
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.postgresql.writes import claims
from holdfast.service.store.registration_columns import COLUMNS

OURS = schema.SCHEMA_VERSION
NEXT = {
    "expand.sql": "ALTER TABLE holdfast.identifiers ADD COLUMN note text",
    "contract.sql": "ALTER TABLE holdfast.identifiers ALTER COLUMN note SET NOT NULL",
}
BACKFILL = Backfill(
    "holdfast.identifiers", (("shard", "smallint"), ("channel", "text"), ("key", "text")),
    "UPDATE holdfast.identifiers SET note = coalesce(note, '') || 'seen' WHERE {part}", at_once=7,
)  # fmt: skip


@pytest.fixture
def three_more(monkeypatch):
    """A fictitious release with an expanding, a backfilling and a contracting migration step."""
    ours = schema.read_script

    def script(name):
        return NEXT.get(name) or ours(name)

    monkeypatch.setattr(schema, "read_script", script)
    steps = (
        *schema.STEPS,
        schema.Step(scripts=("expand.sql",)),
        schema.Step(backfill=BACKFILL),
        schema.Step(scripts=("contract.sql",), oldest=OURS + 3),
    )
    monkeypatch.setattr(schema, "STEPS", steps)


def opened(url):
    return PostgresqlDatabase(url).open()


async def fill(url, names):
    store = opened(url)
    for n in names:
        await store.open_session(session(handle(f"n{n}")), admit)
    await store.close()


async def test_many_nodes_start_at_once(fresh_postgres_url):
    address = parse_address(fresh_postgres_url)
    migrations = await asyncio.gather(*(schema.migrate(address) for _ in range(8)))
    assert {done.now for done in migrations} == {schema.SCHEMA_VERSION}


async def test_an_older_release_serves_until_the_schema_is_contracted(
    fresh_postgres_url, postgres, monkeypatch, request
):
    await fill(fresh_postgres_url, range(20))
    old = opened(fresh_postgres_url)
    request.getfixturevalue("three_more")
    with monkeypatch.context() as expanding:
        expanding.setattr(schema, "STEPS", schema.STEPS[:-1])
        done = await schema.migrate(parse_address(fresh_postgres_url))
    assert (done.found, done.now, done.backfilled) == (OURS, OURS + 2, 20)
    name = fresh_postgres_url.rpartition("/")[2]
    assert postgres.execute("SELECT count(*) FROM holdfast.identifiers WHERE note = 'seen'", name)[0][0] == 20
    await old.ping()
    await old.open_session(session(handle("late")), admit)
    await old.release("handle", "late", 1.0)  # without a note, the next step would fail
    await schema.migrate(parse_address(fresh_postgres_url))
    with pytest.raises(StoreUnavailable, match=f"schema {OURS + 3}"):
        await old.ping()  # the schema is three steps ahead of the oldest release that may still work on it
    await old.close()
    monkeypatch.undo()
    with pytest.raises(SchemaTooNew, match="install the newer release"):
        opened(fresh_postgres_url)


async def test_a_step_that_fails_leaves_nothing(fresh_postgres_url, postgres, monkeypatch, three_more):
    monkeypatch.setitem(NEXT, "expand.sql", "CREATE TABLE holdfast.extra (x int); THIS IS NO SQL")
    with pytest.raises(StoreUnavailable, match="refused a migration"):
        await schema.migrate(parse_address(fresh_postgres_url))
    name = fresh_postgres_url.rpartition("/")[2]
    assert postgres.execute("SELECT version FROM holdfast.schema_version", name)[0][0] == OURS
    assert postgres.execute("SELECT to_regclass('holdfast.extra')", name)[0][0] is None


async def test_a_step_waits_for_a_table_without_making_requests_wait(fresh_postgres_url, monkeypatch, three_more):
    """An export or pg_dump is reading the table that a migration step changes."""
    monkeypatch.setattr(schema, "BETWEEN_TRIES_S", 0.2)
    reading = await asyncpg.connect(fresh_postgres_url)
    store = opened_with(schema.STEPS[:OURS], fresh_postgres_url, monkeypatch)
    transaction = reading.transaction()
    await transaction.start()
    await reading.fetch("SELECT 1 FROM holdfast.identifiers")
    migrating = asyncio.create_task(schema.migrate(parse_address(fresh_postgres_url)))
    for _ in range(8):
        assert not await store.is_claimed("handle", "ann")
        await asyncio.sleep(0.1)
    assert not migrating.done()
    await transaction.rollback()
    assert (await migrating).now == OURS + 3
    await store.close()
    await reading.close()


def opened_with(steps, url, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(schema, "STEPS", steps)
        return opened(url)


async def test_both_sides_name_the_members_of_a_registration_alike(postgres, postgres_url):
    """PostgreSQL would read a member that it does not know, or that is missing, as NULL."""
    await opened(postgres_url).close()
    rule = RegistrationRule(RegistrationRequest(Channel.HANDLE, "did:a:1", reserved=False), Limits(), Ceilings())
    seen = claims.SeenRegistration(RegistrationFacts(None, 0, False, False), "seen")
    new = registration(attestation=(b"signature", 1.0))
    asked = [claims.RegistrationToMake(new, rule.bounds()), claims.RegistrationToMake(new, None, Move.CLAIM, seen)]
    members = {name for row in msgspec.json.decode(claims.REGISTER.encode(asked)[0]) for name in row}
    columns = names(postgres, postgres_url, "credentials")
    assert members == {*names(postgres, postgres_url, "registration_v1"), *columns} - {"in_audit"}
    assert COLUMNS.keys() < set(columns)
    facts = RegistrationFacts.__struct_fields__[1:]
    expected = ["n", "held_by", "held_stage", *facts, "seen", "move"]
    assert names(postgres, postgres_url, "registration_facts_v1") == expected


def names(postgres, url, relation):
    held = "SELECT attname FROM pg_attribute WHERE attrelid = 'holdfast.{}'::regclass AND attnum > 0 ORDER BY attnum"
    return [row[0] for row in postgres.execute(held.format(relation), url.rpartition("/")[2])]


def test_inserted_rows_are_counted_by_returning_them():
    """After INSERT … SELECT … ON CONFLICT, Citus reports the selected rows as ROW_COUNT: a claim would have two owners."""
    for name in {name for step in schema.STEPS for name in step.scripts}:
        for before, after in pairwise(schema.read_script(name).split(";")):
            counts = ("ROW_COUNT" in after and "DIAGNOSTICS" in after) or "FOUND" in after.partition("\n    IF")[2]
            selects = re.search(r"INSERT INTO(?!.*\bVALUES\b).*ON CONFLICT", before, re.DOTALL)
            assert not (counts and selects and "RETURNING" not in before), (name, before)


# Inserts of several rows that need no turns, because an earlier lock, which precedes them, protects the rows.
_LOCKED_BEFORE = {
    ("register_v1", "did_identifiers"): "a row names its identifier, which is locked",
    ("rename_v1", "did_identifiers"): "a row names its identifier, which is locked",
    ("rename_v1", "identifiers"): "one row",
    ("note_recovery_mails_v1", "recovery_mails"): "all rows are in one shard, in order",
    ("add_sponsored_v1", "sponsor_days"): "all rows are in the chain's shard, which is locked",
    ("snapshot_insert_v1", "snapshot_blocks"): "the DID's shard has its turn",
    ("snapshot_finish_v1", "snapshot_places"): "the DID's shard has its turn",
    ("snapshot_sweep_v1", "snapshot_garbage"): "the DID's shard has its turn",
}


def test_inserts_of_several_rows_take_turns_on_citus():
    """Citus writes to its workers at once: without turns, two such inserts could lock two rows in opposite orders."""
    unordered = set()
    for name in {name for step in schema.STEPS for name in step.scripts}:
        script = schema.read_script(name)
        for function, body in re.findall(r"CREATE FUNCTION holdfast\.(\w+)(.*?)\n\$\$;", script, re.DOTALL):
            inserts = re.findall(r"INSERT INTO holdfast\.(\w+)(?![^;]*\bVALUES\b)[^;]*\bON CONFLICT\b", body)
            turns = re.findall(r"take_turns_v1\(\s*'(\w+)'", body)
            unordered |= {(function, table) for table in inserts if table not in turns}
    assert unordered == _LOCKED_BEFORE.keys()


def test_every_script_is_named_by_a_step():
    folder = Path(schema.__file__).parent / "migrations"
    assert {file.name for file in folder.glob("*.sql")} == {
        name for step in schema.STEPS for name in (*step.scripts, *step.for_citus)
    }

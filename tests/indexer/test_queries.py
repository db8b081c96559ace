"""SQLite's query plans for all lists and filters use indexes, and neither scan a table nor sort."""

import itertools
import sqlite3

import pytest

from holdfast.indexer.queries import ALIAS_BY_HASH, LISTS, ListQuery, decided
from holdfast.indexer.sqlite_writes import prepare
from holdfast.indexer.statements import SELECT


@pytest.fixture(scope="module")
def db():
    """An empty database; the planner makes the same plans for a full one, because ANALYZE is never run."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    prepare(connection, "test")
    yield connection
    connection.close()


def plan(db, statement, values):
    return [row[3] for row in db.execute("EXPLAIN QUERY PLAN " + statement, values)]


VALUES = {"active": 1, "kind": "DidRegistered"}
CASES = [
    (name, filters)
    for name, spec in LISTS.items()
    for filters in [
        (),
        *[(key,) for key in spec.filters],
        *[(key, "active") for key in spec.filters if key != "active"],
    ]
]
# An owner or a key has few accounts, and a controller has few aliases for a DID, so these rows may be sorted.
SORTS_A_HANDFUL = {("dids", "owner"), ("aliases", "owner"), ("dids", "key_owner"), ("aliases", "key_owner"), ("aliases", "controller"), ("dids", "alias"), ("accounts", "did"), ("accounts", "alias"), ("dids", "did"), ("aliases", "alias"), ("accounts", "controller"), ("accounts", "key_owner")}  # fmt: skip


@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize(("name", "filters"), CASES)
def test_every_list_is_read_by_an_index(db, name, filters, *, paged):
    bounds = (5, 9, (6, 1)) if paged else ()
    query = ListQuery(name, tuple((key, VALUES.get(key, b"\x01" * 32)) for key in filters), *bounds)
    steps = plan(db, *query.statement())
    scans = [step for step in steps if step.startswith("SCAN") and " USING " not in step]
    assert not scans, steps
    sorts = [step for step in steps if "TEMP B-TREE" in step]
    assert not sorts or any((name, key) in SORTS_A_HANDFUL for key in filters), steps


@pytest.mark.parametrize("strong", ["did", "controller", "alias", "owner", "account"])
def test_weak_filters_do_not_take_the_place_of_a_better_index(db, strong):
    for filters in itertools.permutations([strong, "active", "kind"]):
        query = ListQuery("events", tuple((key, VALUES.get(key, b"\x01" * 32)) for key in filters))
        [step] = plan(db, *query.statement())
        assert "active=?" not in step
        assert "kind=?" not in step


@pytest.mark.parametrize(("kind", "active", "left"), [
    ("DidRegistered", 1, ("kind",)), ("DidRegistered", 0, None), ("AccountCreated", 1, None), ("OwnerAdded", 0, None),
    ("DidStatusChanged", 0, ("active", "kind")),
])  # fmt: skip
def test_no_query_reads_all_events_of_a_kind_for_what_the_kind_decides(db, kind, active, left):
    narrowed = decided(ListQuery("events", (("active", active), ("kind", kind))))
    assert (narrowed and tuple(key for key, _ in narrowed.filters)) == left
    if narrowed:
        [step] = plan(db, *narrowed.statement())
        assert "kind=?" in step


def test_few_accounts_are_of_inactive_dids_and_most_are_not(db):
    """The planner collects the matches if there are few, and otherwise reads in order until a page is full."""
    assert "accounts_by_block_number" in plan(db, *ListQuery("accounts", (("active", 1),)).statement())[0]
    assert "account_address=?" in plan(db, *ListQuery("accounts", (("active", 0),)).statement())[0]


def test_point_reads_are_searches(db):
    for statement in [*SELECT.values(), ALIAS_BY_HASH]:
        assert all(step.startswith("SEARCH") for step in plan(db, statement, [b"\x01" * 32]))

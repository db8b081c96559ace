"""A batch that the server refuses, a response that is lost, and a race with another transaction."""

import asyncpg
import pytest
from tests.support.fake_connections import FakeConnection, ask, kind, refused
from tests.support.store_cases import ANN, session

from holdfast.rules.registration import SessionBounds, SessionFacts
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql.batcher import Batcher
from holdfast.service.store.postgresql.batches import LostRace
from holdfast.service.store.postgresql.writes.arguments import claim_key_of
from holdfast.service.store.postgresql.writes.claims import OPEN_SESSIONS, SessionToOpen


async def test_a_batch_that_fails_is_done_again_singly():
    connection = FakeConnection()
    connection.errors = {2: refused(asyncpg.UniqueViolationError, 2)}
    results = await ask(Batcher([connection]), kind(), range(4))
    assert results[:2] + results[3:] == [0, 2, 6]
    assert isinstance(results[2], StoreUnavailable)
    assert connection.batches == [[0, 1, 2, 3], [0], [1], [2], [3]]


async def test_bad_data_belongs_to_the_request_that_brought_it():
    connection = FakeConnection()
    connection.errors = {1: refused(asyncpg.CharacterNotInRepertoireError, 2)}
    results = await ask(Batcher([connection]), kind(), range(3))
    assert [type(result).__name__ for result in results] == ["int", "CharacterNotInRepertoireError", "int"]


async def test_a_lost_race_is_told_as_one():
    connection, race = FakeConnection(), asyncpg.PostgresError.new({"C": "HF001", "M": "x"})
    connection.errors = {1: [race]}
    assert isinstance((await ask(Batcher([connection]), kind(), [1]))[0], LostRace)


async def test_a_deadlock_is_tried_once_more_as_a_whole():
    connection = FakeConnection()
    connection.errors = {1: refused(asyncpg.DeadlockDetectedError)}
    assert await ask(Batcher([connection]), kind(), range(3)) == [0, 2, 4]
    assert connection.batches == [[0, 1, 2]] * 2


@pytest.mark.parametrize(("repeatable", "batches"), [(False, 1), (True, 2)])
async def test_a_lost_answer_is_asked_for_again_only_where_that_changes_nothing(repeatable, batches):
    connection = FakeConnection()
    connection.errors = {0: refused(StoreUnavailable, 2)}
    results = await ask(Batcher([connection]), kind(repeatable=repeatable), range(3))
    assert all(isinstance(result, StoreUnavailable) for result in results)
    assert len(connection.batches) == batches


@pytest.mark.parametrize("bounds", [SessionBounds(1, 9, 0, 9), SessionBounds(0, 9, 1, 9)], ids=["address", "network"])
async def test_a_session_below_its_lower_bound_is_left_to_the_rule(pg_store, postgres_url, bounds):
    """The bound comes from facts that a rule was asked about. What adds all at once looks at upper bounds alone."""
    opening = SessionToOpen(session(), claim_key_of(ANN), bounds)
    connection = await asyncpg.connect(postgres_url)
    try:
        rows = await connection.fetch(OPEN_SESSIONS.statement, *OPEN_SESSIONS.encode([opening]))
    finally:
        await connection.close()
    assert OPEN_SESSIONS.decode([opening], rows) == [SessionFacts(None, 0, 0)]
    assert await pg_store.claim_of("handle", "ann") is None

"""Batches of queries: what they contain, what happens if one fails, and how long a query may wait."""

import asyncio

import asyncpg
import pytest
from tests.support.pgbouncer import needs_pgbouncer, pooled
from tests.support.store_cases import ANN, admit, admitted, handle, refuse, sends, session

from holdfast.rules.registration import SessionBounds, SessionFacts
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql.batcher import UNDIVIDED, Batcher
from holdfast.service.store.postgresql.batches import Kind, LostRace
from holdfast.service.store.postgresql.connection import NotSent
from holdfast.service.store.postgresql.database import PostgresqlDatabase
from holdfast.service.store.postgresql.writes.arguments import claim_key_of
from holdfast.service.store.postgresql.writes.claims import OPEN_SESSIONS, SessionToOpen


class FakeConnection:
    is_citus = False

    def __init__(self):
        self.batches = []
        self.errors = {}
        self.go = asyncio.Event()
        self.go.set()

    async def fetch(self, _statement, values):
        batch = list(values[0])
        self.batches.append(batch)
        await self.go.wait()
        for number in batch:
            if self.errors.get(number):
                raise self.errors[number].pop(0)
        return [(number * 2,) for number in batch]

    async def close(self):
        return None


def kind(**more):
    return Kind("double", "", lambda batch: [batch], lambda _batch, rows: [row[0] for row in rows], **more)


def refused(error, times=1):
    return [error("no") for _ in range(times)]


async def ask(batcher, what, numbers):
    return list(await asyncio.gather(*(batcher.ask(what, n) for n in numbers), return_exceptions=True))


@pytest.mark.parametrize(("connections", "asked", "shares"), [
    (1, 5, [5]),
    (2, UNDIVIDED, [0, UNDIVIDED]),
    (2, 2 * UNDIVIDED + 3, [UNDIVIDED + 1, UNDIVIDED + 2]),
], ids=["what waits goes together", "a few requests stay together", "idle connections share many"])  # fmt: skip
async def test_connections_share_what_waits(connections, asked, shares):
    made = [FakeConnection() for _ in range(connections)]
    assert await ask(Batcher(made), kind(), range(asked)) == [2 * n for n in range(asked)]
    assert sorted(sum(map(len, connection.batches)) for connection in made) == shares
    assert max(len(connection.batches) for connection in made) == 1


async def test_another_kind_that_waits_gets_a_connection_of_its_own():
    connections = [FakeConnection(), FakeConnection()]
    batcher, one, other = Batcher(connections), kind(), kind()
    await asyncio.gather(ask(batcher, one, range(2 * UNDIVIDED)), ask(batcher, other, [-1]))
    assert sorted(len(connection.batches[0]) for connection in connections) == [1, 2 * UNDIVIDED]


async def test_what_shares_a_key_goes_one_after_the_other_and_the_rest_at_once():
    connection = FakeConnection()
    batcher, what = Batcher([connection]), kind()
    asked = [batcher.ask(what, n, ("same",) if n < 3 else (n,)) for n in range(6)]
    assert await asyncio.gather(*asked) == [0, 2, 4, 6, 8, 10]
    assert connection.batches == [[0, 3, 4, 5], [1], [2]]


async def test_nothing_waits_longer_than_a_connection_may_be_busy():
    connection = FakeConnection()
    connection.go.clear()
    batcher, what = Batcher([connection]), kind()
    first = asyncio.create_task(batcher.ask(what, 1))
    while not connection.batches:
        await asyncio.sleep(0)
    with pytest.raises(NotSent):
        await batcher.ask(what, 2)
    connection.go.set()
    assert await first == 2
    await batcher.close()


async def test_closing_finishes_what_was_accepted():
    connection = FakeConnection()
    batcher, what = Batcher([connection]), kind(most=1)
    asked = [asyncio.create_task(batcher.ask(what, n)) for n in range(5)]
    await asyncio.sleep(0)
    await batcher.close()
    assert await asyncio.gather(*asked) == [0, 2, 4, 6, 8]
    with pytest.raises(StoreUnavailable, match="closed"):
        await batcher.ask(what, 1)


async def test_a_frozen_server_ends_every_request_and_serves_again(own_postgres):
    store = PostgresqlDatabase(own_postgres.new_database()).open()
    await store.claim_of("handle", "x")

    def opened(n):
        return store.open_session(session(handle(f"n{n}"), ip=f"ip{n}"), admit)

    await opened(0)
    own_postgres.freeze()
    async with asyncio.timeout(60):
        asked = [opened(n) for n in range(1, 50)] + [store.is_claimed("handle", f"n{n}") for n in range(50)]
        results = await asyncio.gather(*asked, return_exceptions=True)
    own_postgres.thaw()
    assert all(isinstance(result, StoreUnavailable) for result in results)
    async with asyncio.timeout(60):
        while True:
            try:
                await opened(99)
                break
            except StoreUnavailable:
                await asyncio.sleep(0.1)
    assert await store.is_claimed("handle", "n0")
    await store.close()


@pytest.mark.parametrize("prepared", [False, True], ids=["old", "with prepared statements"])
@needs_pgbouncer
async def test_it_works_behind_pgbouncer_in_transaction_mode(postgres, postgres_url, *, prepared):
    with pooled(postgres, postgres_url, prepared=prepared) as url:
        nodes = [PostgresqlDatabase(url).open() for _ in range(3)]
        assert await admitted(*(nodes[n % 3].charge((sends(7),), 5.0) for n in range(60))) == 7

        def open_if_free(n):
            new = session(handle(f"n{n % 20}"), ip=f"ip{n}")
            return nodes[n % 3].open_session(new, lambda facts: refuse(facts) if facts.claim else None)

        assert await admitted(*(open_if_free(n) for n in range(60))) == 20
        assert all(await asyncio.gather(*(nodes[0].is_claimed("handle", f"n{n}") for n in range(20))))
        for node in nodes:
            await node.ping()
            await node.close()


async def test_a_zero_byte_which_postgresql_cannot_hold_is_found_nowhere(pg_store):
    assert await pg_store.find_credential("a\0b") is None
    assert not await pg_store.revoke_credential("a\0b", 1.0)


@pytest.mark.parametrize(("errors", "outcomes", "batches"), [
    (refused(asyncpg.UniqueViolationError, 2), [int, StoreUnavailable, int], [[0, 1, 2], [0], [1], [2]]),
    (refused(asyncpg.CharacterNotInRepertoireError, 2), [int, asyncpg.CharacterNotInRepertoireError, int], [[0, 1, 2], [0], [1], [2]]),
    (refused(asyncpg.DeadlockDetectedError, 2), [int] * 3, [[0, 1, 2]] * 3),
    (refused(asyncpg.DeadlockDetectedError, 6), [int, StoreUnavailable, int], [[0, 1, 2]] * 3 + [[0], [1], [1], [1], [2]]),
    ([asyncpg.PostgresError.new({"C": "HF001", "M": "x"})] * 2, [int, LostRace, int], [[0, 1, 2], [0], [1], [2]]),
], ids=["done again singly", "bad data belongs to its request", "a deadlock is tried as a whole", "a deadlock that stays", "a lost race"])  # fmt: skip
async def test_a_batch_that_fails(errors, outcomes, batches):
    connection = FakeConnection()
    connection.errors = {1: list(errors)}
    assert [type(result) for result in await ask(Batcher([connection]), kind(), range(3))] == outcomes
    assert connection.batches == batches


@pytest.mark.parametrize(("repeatable", "batches"), [(False, 1), (True, 2)])
async def test_a_lost_answer_is_asked_for_again_only_where_that_changes_nothing(repeatable, batches):
    connection = FakeConnection()
    connection.errors = {0: refused(StoreUnavailable, 2)}
    results = await ask(Batcher([connection]), kind(repeatable=repeatable), range(3))
    assert all(isinstance(result, StoreUnavailable) for result in results)
    assert len(connection.batches) == batches


@pytest.mark.parametrize("bounds", [SessionBounds(1, 9, 0, 9), SessionBounds(0, 9, 1, 9)], ids=["address", "network"])
async def test_a_session_below_its_lower_bound_is_left_to_the_rule(pg_store, postgres_url, bounds):
    """A rule chose the bounds for the facts that it was given. A batch compares the counts with the upper bounds only."""
    opening = SessionToOpen(session(), claim_key_of(ANN), bounds)
    connection = await asyncpg.connect(postgres_url)
    try:
        rows = await connection.fetch(OPEN_SESSIONS.statement, *OPEN_SESSIONS.encode([opening]))
    finally:
        await connection.close()
    assert OPEN_SESSIONS.decode([opening], rows) == [SessionFacts(None, 0, 0)]
    assert await pg_store.claim_of("handle", "ann") is None

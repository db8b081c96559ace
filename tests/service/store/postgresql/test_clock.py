"""A node whose clock differs from the database server's writes nothing, so that it cannot double a limit."""

import asyncio
import time

import pytest
from tests.support.store_cases import MAIL, attempt, code, sends, session

from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.postgresql import clock
from holdfast.service.store.values import NewRepeat


def set_clock(monkeypatch, offset_s):
    monkeypatch.setattr(clock, "wall", lambda: time.time() + offset_s)


@pytest.mark.parametrize("offset_s", [-3600.0, -70.0, 70.0, 25 * 3600.0])
async def test_a_clock_that_is_set_wrong_stops_writes_until_it_is_right(pg_store, monkeypatch, caplog, offset_s):
    await pg_store.charge((sends(9),), time.time())
    set_clock(monkeypatch, offset_s)
    now = time.time() + offset_s
    repeat = NewRepeat(key=b"k", bodies=(b"b",), now=now, lease_s=1, retention_s=9, quotas=())
    for write in (
        pg_store.charge((sends(9),), now),
        pg_store.count_attempt(attempt(now)),
        pg_store.keep_code(code()),
        pg_store.begin(repeat),
        pg_store.open_session(session(), lambda _facts: None),
        pg_store.expire(now),
        pg_store.snapshots.expire(now),
        pg_store.ping(),
    ):
        with pytest.raises(StoreUnavailable, match="clock is"):
            await write
    assert "clock off" in caplog.text
    assert await pg_store.verified_at(MAIL) is None, "what is read is still told"
    set_clock(monkeypatch, 0)
    await pg_store.charge((sends(9),), time.time())
    await pg_store.ping()


@pytest.mark.parametrize("offset_s", [-50.0, 50.0])
async def test_less_than_a_minute_is_accepted(pg_store, monkeypatch, offset_s):
    set_clock(monkeypatch, offset_s)
    await pg_store.charge((sends(9),), time.time())
    await pg_store.ping()


async def test_parallel_writes_ask_for_the_time_once(pg_store, monkeypatch):
    asked = []

    def counting():
        asked.append(time.time())
        return asked[-1]

    await pg_store.charge((sends(99),), time.time())
    monkeypatch.setattr(clock, "_EVERY_S", 0.0)
    monkeypatch.setattr(clock, "wall", counting)
    await asyncio.gather(*(pg_store.charge((sends(99),), time.time()) for _ in range(20)))
    assert len(asked) <= 20 + 2, "one look per write, and one comparison before and after"

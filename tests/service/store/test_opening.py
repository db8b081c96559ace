"""At startup the service waits for the database server, and serves only the chain of its database."""

from concurrent.futures import ThreadPoolExecutor
from math import inf

import pytest

from holdfast.service.store.database import OtherChain
from holdfast.service.store.port import StoreUnavailable, StoreUnreachable
from holdfast.service.store.waiting import open_when_reachable

CHAIN = 8453


class _Database:
    """Raises each error in turn, then opens the store."""

    location = "postgresql://db/holdfast"

    def __init__(self, *errors):
        self._errors = list(errors)
        self.time = 100.0
        self.calls = 0

    def open(self, chain):
        assert chain == CHAIN
        self.calls += 1
        if self._errors:
            raise self._errors.pop(0)
        return self

    def sleep(self, seconds):
        self.time += seconds

    def opened(self, within_s, stopped_at=inf):
        stopped = lambda: self.time >= stopped_at  # noqa: E731
        return open_when_reachable(self, within_s, CHAIN, lambda: self.time, self.sleep, stopped)


def test_it_waits_and_says_so_every_ten_seconds(caplog):
    database = _Database(*(StoreUnreachable("refused") for _ in range(25)))
    assert database.opened(60) is database
    assert database.time == 125
    said = [record.getMessage() for record in caplog.records]
    assert [line.split("up to ")[1].split(" for")[0] for line in said[:-1]] == ["60 s", "50 s", "40 s"]
    assert said[-1] == "postgresql://db/holdfast answers after 25 s: the start goes on"


def test_the_wait_ends_and_a_stop_ends_it_earlier():
    database = _Database(*(StoreUnreachable("refused") for _ in range(25)))
    with pytest.raises(StoreUnreachable):
        database.opened(5)
    assert database.time == 105
    database.time = 100
    with pytest.raises(SystemExit) as ended:
        database.opened(60, stopped_at=103)
    assert (ended.value.code, database.time) == (0, 103)


@pytest.mark.parametrize(("error", "within_s"), [(StoreUnavailable("password"), 60), (StoreUnreachable("away"), 0)])
def test_it_does_not_wait(error, within_s, caplog):
    database = _Database(error)
    with pytest.raises(StoreUnavailable):
        database.opened(within_s)
    assert (database.calls, database.time, caplog.records) == (1, 100.0, [])


TEST, REAL = 84532, 8453


async def test_a_database_is_refused_to_another_chain(database):
    await database.open().close()  # as commands do, which do not serve
    assert database.chain() is None
    await database.open(TEST).close()
    assert database.chain() == TEST
    await database.open(TEST).close()
    with pytest.raises(OtherChain, match=r"belongs to chain 84532: set HOLDFAST_CHAIN=84532, or serve chain 8453"):
        database.open(REAL)
    assert database.chain() == TEST
    await database.open().close()


async def test_of_two_chains_at_once_one_gets_the_database(database):
    await database.open().close()
    with ThreadPoolExecutor(8) as threads:
        tried = [threads.submit(database.open, chain) for chain in (TEST, REAL) * 4]
    opened = [it.result() for it in tried if it.exception() is None]
    refused = [it.exception() for it in tried if it.exception() is not None]
    assert len(opened) == len(refused) == 4
    assert {type(it) for it in refused} == {OtherChain}
    for store in opened:
        await store.close()

"""A database belongs to the chain that it was first opened for."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.service.store.database import OtherChain

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

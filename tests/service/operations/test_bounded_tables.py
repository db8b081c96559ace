"""What strangers ask for is remembered up to a number: the oldest is forgotten, so memory does not grow without end."""

from holdfast.service.operations import accounts
from holdfast.service.upstreams import chain_rpc

MOST, ASKED = 3, 10
ADDRESS = "0x" + "11" * 20


class Chain:
    """Counts the calls that reach the chain."""

    def __init__(self):
        self.calls = []

    async def eth_call(self, _to, data, *, at_least):
        self.calls.append(data)
        return (b"\1" * 20).rjust(at_least, b"\0")

    def reader(self):
        return chain_rpc.ChainReader(lambda: self)


async def asked_again(chain, ask):
    """Return for the first and the last of many questions whether the chain is asked a second time."""
    for n in range(ASKED):
        await ask(n)
    found = []
    for n in (0, ASKED - 1):
        before = len(chain.calls)
        await ask(n)
        found.append(len(chain.calls) > before)
    return found


async def test_responses_of_the_chain(monkeypatch):
    monkeypatch.setattr(chain_rpc, "MAX_CACHED", MOST)
    monkeypatch.setattr(chain_rpc, "CHAIN_CACHE_S", 3600)
    chain = Chain()
    reader = chain.reader()
    assert await asked_again(chain, lambda n: reader.call(ADDRESS, bytes([n]), 32)) == [True, False]


async def test_predicted_addresses(monkeypatch):
    monkeypatch.setattr(chain_rpc, "CHAIN_CACHE_S", 0)
    monkeypatch.setattr(accounts, "MAX_PREDICTED", MOST)
    chain = Chain()
    of = accounts.Accounts(chain.reader(), ADDRESS, ADDRESS, ADDRESS)
    assert await asked_again(chain, lambda n: of.predict(n, 1, 0)) == [True, False]

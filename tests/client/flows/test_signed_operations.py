"""What became of a payment and of what replaced it, and which endpoints may be called; vectors/flows/pay.json has the nonces."""

import re
from types import SimpleNamespace

import pytest
from tests.support.account_world import ACCOUNT, CONTRACTS, OWN, AccountWorld, obeying
from tests.support.running_service import Coroutines

import holdfast
from holdfast.chain.fees import Fees
from holdfast.client.blocking.loop import run
from holdfast.client.flows import operations
from holdfast.client.flows.gas import NoEndpoint
from holdfast.client.flows.operations import SmartAccount
from holdfast.client.flows.signed_operations import SignedOperations
from holdfast.client.storage.notes import MemoryNotes
from holdfast.client.types.service import Status
from holdfast.wire.encoding import to_hex
from holdfast.wire.models import ServedChain


class Provider(AccountWorld):
    """A service that names the endpoint `rpc`, and a bundler that has receipts of the operations in `mined`."""

    entry_point, chain_id = CONTRACTS.entry_point, CONTRACTS.chain_id

    def __init__(self, rpc=None):
        super().__init__({ACCOUNT: obeying(OWN)})
        self.rpc, self.mined = rpc, set()

    def contracts(self):
        return CONTRACTS

    def status(self):
        return Status(chain="Base Sepolia", chain_id=84532, rpc=self.rpc, database="connected")

    def account_state_on(self, _chain_id, address):
        return self.states[address]

    async def receipt(self, name):
        return SimpleNamespace(succeeded=True) if name in self.mined else None


@pytest.fixture(autouse=True)
def bundled(monkeypatch):
    monkeypatch.setattr(operations, "bundler_of", lambda transport, *_, **__: transport.provider)


def account_at(provider, signed=None):
    there, transport = Coroutines(provider), SimpleNamespace(base_url="https://s", provider=provider)
    account = SmartAccount(there, there, transport, holdfast.GasPolicy(sponsored=False), signed)
    run(account.open())
    return account


@pytest.mark.parametrize("stored", [True, False])
def test_the_outcomes_of_a_payment_and_of_what_replaced_it_are_known(store, stored):
    provider, first, second = Provider(), bytes(32), b"\x01" * 32
    signed = SignedOperations(store if stored else MemoryNotes())
    account = account_at(provider, signed)
    slot = f"84532:{CONTRACTS.entry_point}:{ACCOUNT}".lower()
    for name in (first, second):
        signed.note(slot, SimpleNamespace(nonce=0, call_data=b"", fees=Fees(1, 1)), name)
    names = [to_hex(first), to_hex(second)]
    assert run(account.outcomes(names)) == {}, "both are open"
    provider.mined.add(second)
    assert run(account.outcomes(names)) == {names[0]: False, names[1]: True}
    assert run(account.outcomes(names[:1])) == {names[0]: False}, "it can never be mined"


LOCAL = "http://127.0.0.1:8545"


@pytest.mark.parametrize(
    ("rpc", "why"),
    [
        (LOCAL, f"the service names {LOCAL}, which this program may not call: name one (Gas"),
        ("http://a\x1b[2K\nb", "the service names http://a\ufffd[2K\ufffdb, which"),
        (None, "no endpoint of the chain is known: name one (Gas"),
    ],
)
def test_an_endpoint_that_may_not_be_called_is_named(rpc, why):
    with pytest.raises(NoEndpoint, match=re.escape(why)):
        run(account_at(Provider(rpc)).known_chain())


THERE = ServedChain(
    chain_id=1, name="Ethereum", main=False, test_money=False, rpc="", explorer="", usdc=None, payments=True
)


def test_on_another_chain_only_the_service_can_name_an_endpoint():
    """The application names the main chain's endpoint: it changes nothing on another chain."""
    account = account_at(Provider(), SignedOperations(MemoryNotes()))
    account.move(THERE)
    with pytest.raises(NoEndpoint, match="known: the service must name one that can be called"):
        run(account.known_chain())
    with pytest.raises(NoEndpoint, match="price of gas is not known: the service must name one"):
        run(account.prepared(("0x" + "0b" * 20, 5, b"")))

"""What became of a payment and of what replaced it, and which endpoints may be called; vectors/flows/pay.json has the nonces."""

import json
import re

import httpx2
import pytest
from tests.support.account_world import ACCOUNT, CONTRACTS, OWN, AccountWorld, obeying
from tests.support.running_service import Coroutines

import holdfast
from holdfast.chain.bundler import Bundler
from holdfast.chain.user_operations import UserOperation
from holdfast.client.blocking.loop import run
from holdfast.client.flows.gas import NoEndpoint
from holdfast.client.flows.operations import SmartAccount
from holdfast.client.flows.signed_operations import SignedOperations
from holdfast.client.http.chain_transport import ChainTransport
from holdfast.client.http.transport import HttpTransport
from holdfast.client.storage.notes import MemoryNotes
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.types.service import Status
from holdfast.wire.models import ServedChain

RENT = ("0x" + "0b" * 20, 5, b"")
LIMITS = {"callGasLimit": "0x10", "verificationGasLimit": "0x20", "preVerificationGas": "0x30"}
PLACE = {"transactionHash": "0x" + "0a" * 32, "blockNumber": "0x7", "blockHash": "0x" + "0b" * 32}


class Provider(AccountWorld):
    """A service with a bundler."""

    def __init__(self):
        super().__init__({ACCOUNT: obeying(OWN)})
        self.mined = set()
        self.prices = {"maxFeePerGas": 0, "maxPriorityFeePerGas": 0}
        self.rpc = None

    def contracts(self):
        return CONTRACTS

    def status(self):
        return Status(chain="Base Sepolia", chain_id=84532, rpc=self.rpc, database="connected")

    def answer(self, request):
        asked = json.loads(request.content)
        told = getattr(self, asked["method"])(*asked["params"])
        return httpx2.Response(200, json={"jsonrpc": "2.0", "id": asked["id"], **told})

    def pm_sponsorUserOperation(self, form, *_):  # noqa: N802 - the method's name
        fees = {name: hex(int(form[name], 16) or price) for name, price in self.prices.items()}
        return {"result": LIMITS | fees | {"paymaster": "0x" + "05" * 20}}

    def eth_sendUserOperation(self, form, entry_point):  # noqa: N802
        bundler = Bundler(None, entry_point=entry_point, chain_id=CONTRACTS.chain_id)
        return {"result": "0x" + bundler.hash(UserOperation.from_rpc(form)).hex()}

    def eth_getUserOperationReceipt(self, name):  # noqa: N802
        if name not in self.mined:
            return {"result": None}
        receipt = {**PLACE, "status": "0x1", "gasUsed": "0x9", "logs": []}
        gas = {"actualGasUsed": "0x5", "actualGasCost": "0x6", "logs": []}
        return {"result": {"userOpHash": name, "success": True, "receipt": receipt, **gas}}


class Payer:
    """A client's account."""

    def __init__(self, provider, store=None):
        transport = ChainTransport(HttpTransport("https://s", transport=httpx2.MockTransport(provider.answer)))
        there = Coroutines(provider)
        self.account = SmartAccount(
            there, there, transport, holdfast.GasPolicy(), SignedOperations(store or MemoryNotes())
        )
        run(self.account.open())

    def pay(self):
        """Sign and send, and return the hash as the chain writes it."""
        operation = run(self.account.prepared(RENT))
        return "0x" + run(self.account.send(operation.signed(b"\x01" * 64))).hex()


@pytest.fixture
def provider():
    return Provider()


@pytest.mark.parametrize("stored", [True, False])
def test_the_outcomes_of_a_payment_and_of_what_replaced_it_are_known(provider, tmp_path, *, stored):
    with VaultStore(directory=tmp_path) as store:
        payer = Payer(provider, store if stored else None)
        first = payer.pay()
        provider.prices = {"maxFeePerGas": 90, "maxPriorityFeePerGas": 9}
        names = [first, payer.pay()]
        assert run(payer.account.outcomes(names)) == {}, "both are open"
        provider.mined.add(names[1])
        assert run(payer.account.outcomes(names)) == {names[0]: False, names[1]: True}
        assert run(payer.account.outcomes(names[:1])) == {names[0]: False}, "it can never be mined"


@pytest.mark.parametrize(
    ("rpc", "why"),
    [
        (
            "http://127.0.0.1:8545",
            "the service names http://127.0.0.1:8545, which this program may not call: name one (Gas",
        ),
        (
            "http://a\x1b[2K\nb",
            "the service names http://a\N{REPLACEMENT CHARACTER}[2K\N{REPLACEMENT CHARACTER}b, which",
        ),
        (None, "no endpoint of the chain is known: name one (Gas"),
    ],
)
def test_an_endpoint_that_may_not_be_called_is_named(provider, rpc, why):
    provider.rpc = rpc
    with pytest.raises(NoEndpoint, match=re.escape(why)):
        run(Payer(provider).account.known_chain())


THERE = ServedChain(
    chain_id=1, name="Ethereum", main=False, test_money=False, rpc="", explorer="", usdc=None, payments=True
)


def test_on_another_chain_only_the_service_can_name_an_endpoint(provider):
    """The application names the main chain's endpoint: it changes nothing on another chain."""
    account = Payer(provider).account
    account.move(THERE)
    with pytest.raises(NoEndpoint, match="known: the service must name one that can be called"):
        run(account.known_chain())
    provider.account_state_on = lambda _chain, address: provider.states[address]
    provider.pm_sponsorUserOperation = lambda *_: {"error": {"code": -32601, "message": "no such method"}}
    with pytest.raises(NoEndpoint, match="price of gas is not known: the service must name one"):
        run(account.prepared(RENT))

"""How an application's gas policy decides who pays for gas; vectors/flows/pay_gas.json has the cases."""

import json

import httpx2
import pytest
from tests.support.account_world import ACCOUNT, CONTRACTS, OWN, AccountWorld, obeying
from tests.support.running_service import Coroutines
from tests.support.vector_files import vectors

import holdfast
from holdfast.client.flows.amounts import amount_text, wei_text
from holdfast.client.flows.operations import SmartAccount
from holdfast.client.flows.signed_operations import SignedOperations
from holdfast.client.http.chain_transport import ChainTransport
from holdfast.client.http.transport import HttpTransport
from holdfast.client.storage.notes import MemoryNotes
from holdfast.client.types.service import Status
from holdfast.wire.client_errors import NetworkError

CALL = ("0x" + "0b" * 20, 0, b"")
SECRET = "https://p.example/SECRET"


@pytest.mark.parametrize("name", ["paymaster_url", "rpc_url"])
@pytest.mark.parametrize("url", ["", "ftp://x", "paymaster.example", "https://"])
def test_addresses_are_checked_and_never_shown(name, url):
    with pytest.raises(ValueError, match=rf"^{name} must start with http"):
        holdfast.GasPolicy(**{name: url})
    assert "SECRET" not in repr(holdfast.GasPolicy(**{name: SECRET}, context={"policy": "SECRET"}))


def test_amounts_are_written_exactly():
    amounts = vectors("payments/amounts")
    for amount, decimals, words in amounts["tokens"]:
        assert amount_text(int(amount), decimals) == words
    for wei, words in amounts["wei"]:
        assert wei_text(int(wei)) == words


def test_a_limit_is_not_negative():
    with pytest.raises(ValueError, match="max_own_cost_wei"):
        holdfast.GasPolicy(max_own_cost_wei=-1)


class Service(AccountWorld):
    """A service that has contracts, and names an endpoint of the chain."""

    def contracts(self):
        return CONTRACTS

    def status(self):
        return Status(chain="Base Sepolia", chain_id=84532, rpc="https://rpc.invalid", database="connected")


async def prepared(of_bundler, policy=None):
    def answer(request):
        if request.url.host != "s":
            return httpx2.Response(403)
        status, body, headers = of_bundler
        return httpx2.Response(status, json={**body, "id": json.loads(request.content)["id"]}, headers=headers)

    transport = ChainTransport(HttpTransport("https://s", transport=httpx2.MockTransport(answer)))
    service = Coroutines(Service({ACCOUNT: obeying(OWN)}))
    account = SmartAccount(service, service, transport, policy or holdfast.GasPolicy(), SignedOperations(MemoryNotes()))
    await account.open()
    return await account.prepared(CALL)


async def test_an_endpoint_that_was_named_must_answer_and_is_not_shown():
    no_sponsor = (200, {"jsonrpc": "2.0", "error": {"code": -32601, "message": "no such method"}}, {})
    with pytest.raises(NetworkError, match="name the chain's JSON-RPC endpoint"):
        await prepared(no_sponsor)
    with pytest.raises(NetworkError) as caught:
        await prepared(no_sponsor, holdfast.GasPolicy(rpc_url=SECRET))
    assert "SECRET" not in str(caught.value)

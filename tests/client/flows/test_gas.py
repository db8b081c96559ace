"""How an application's gas policy and the service's limits decide who pays for gas, and how much."""

from __future__ import annotations

import httpx
import pytest
from tests.support.account_world import ACCOUNT, CONTRACTS, OWN, AccountWorld, obeying
from tests.support.running_service import Coroutines

import holdfast
from holdfast.client.blocking.loop import run
from holdfast.client.flows.operations import SmartAccount
from holdfast.client.flows.signed_operations import SignedOperations
from holdfast.client.http.chain_transport import ChainTransport
from holdfast.client.http.refusals import RateLimited
from holdfast.client.http.transport import HttpTransport
from holdfast.client.types.service import Status
from holdfast.wire.client_errors import NetworkError

CALL = ("0x" + "0b" * 20, 0, b"")


@pytest.mark.parametrize("name", ["paymaster_url", "rpc_url"])
@pytest.mark.parametrize("url", ["", "ftp://x", "paymaster.example", "https://"])
def test_addresses_are_checked_and_never_shown(name, url):
    with pytest.raises(ValueError, match=rf"^{name} must start with http"):
        holdfast.GasPolicy(**{name: url})


def test_keys_in_addresses_are_not_shown():
    policy = holdfast.GasPolicy(
        paymaster_url="https://p.example/SECRET", rpc_url="https://r.example/SECRET", context={"policy": "SECRET"}
    )
    assert "SECRET" not in repr(policy)


def test_a_limit_is_not_negative():
    with pytest.raises(ValueError, match="max_own_cost_wei"):
        holdfast.GasPolicy(max_own_cost_wei=-1)


class Service(AccountWorld):
    """A service that has contracts but advertises no chain endpoint."""

    def __init__(self, rpc="https://rpc.invalid"):
        super().__init__({ACCOUNT: obeying(OWN)})
        self.rpc = rpc

    def contracts(self):
        return CONTRACTS

    def status(self):
        return Status(chain="Base Sepolia", chain_id=84532, rpc=self.rpc, database="connected")


def prepared(handler, policy=None, rpc="https://rpc.invalid"):
    transport = ChainTransport(HttpTransport("https://s", transport=httpx.MockTransport(handler)))
    service = Coroutines(Service(rpc))
    gas = policy or holdfast.GasPolicy()
    account = SmartAccount(service, service, transport, gas, SignedOperations(None))

    async def flow():
        await account.open()
        return await account.prepared(CALL)

    return run(flow())


def test_the_services_limit_is_its_own_typed_refusal():
    def answer(request):
        if request.url.host == "s":
            return httpx.Response(429, json={"error": "rate_limited"}, headers={"Retry-After": "40"})
        return httpx.Response(404)

    with pytest.raises(RateLimited) as caught:
        prepared(answer)
    assert caught.value.retry_after_s == 40


def test_without_a_price_of_gas_the_account_cannot_pay_and_the_message_says_what_to_name():
    def answer(request):
        if request.url.host == "s":
            return json_rpc(request, {"error": {"code": -32601, "message": "no such method"}})
        return httpx.Response(404)

    with pytest.raises(NetworkError, match="name the chain's JSON-RPC endpoint"):
        prepared(answer)


def test_an_endpoint_that_was_named_must_answer_and_is_not_shown():
    policy = holdfast.GasPolicy(rpc_url="https://rpc.example/SECRET")
    with pytest.raises(NetworkError) as caught:
        prepared(lambda _request: httpx.Response(403), policy)
    assert "SECRET" not in str(caught.value)


def test_an_endpoint_in_the_persons_own_network_is_not_asked():
    asked = []

    def answer(request):
        asked.append(request.url.host)
        return json_rpc(request, {"error": {"code": -32601, "message": "no such method"}})

    with pytest.raises(NetworkError, match="name the chain's JSON-RPC endpoint"):
        prepared(answer, rpc="http://127.0.0.1:21330/router/admin")
    assert set(asked) == {"s"}


def json_rpc(request, answer):
    import json

    return httpx.Response(200, json={"jsonrpc": "2.0", "id": json.loads(request.content)["id"], **answer})

"""What answers to JSON-RPC requests mean (vectors/service/json_rpc.json), from a bundler and from a chain's endpoint."""

import json
import re
from pathlib import Path

import httpx2
import pytest
from tests.support.vector_files import vectors

from holdfast.chain.errors import RpcError
from holdfast.chain.rpc import RETRY_DELAYS_S, RpcClient
from holdfast.client.async_service_client import AsyncServiceClient
from holdfast.client.flows.operations import BUNDLER_WITHIN_S
from holdfast.client.http.calls import Retries
from holdfast.client.http.chain_transport import ChainTransport
from holdfast.client.http.json_rpc import JsonRpcError
from holdfast.client.http.transport import DEFAULT_TIMEOUT, WHOLE_REQUEST_S, HttpTransport
from holdfast.rules.limits import PROXY_TIMEOUT_S
from holdfast.wire.client_errors import NetworkError

CASES = vectors("service/json_rpc")["cases"]
NAMED = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
ONCE = Retries(attempts=1)


def answering(case):
    def handler(request):
        number = json.loads(request.content)["id"]
        headers = {"location": case["location"]} if "location" in case else {}
        return httpx2.Response(case.get("status", 200), content=content(case, number), headers=headers)

    return httpx2.MockTransport(handler)


def content(case, number):
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    if "depth" in case:
        return b"[" * case["depth"] + b"]" * case["depth"]
    if "text" in case:
        return case["text"].encode()
    text = json.dumps(case["body"]).replace('"$id"', str(number)).replace("$text", str(number))
    return text.replace("$long", "no" * 999).encode()


def refusal(case):
    code, message, data = case["refused"]
    return code, message.replace("$cut", "no" * 250), data


@NAMED
async def test_from_a_bundler(case):
    async with AsyncServiceClient("https://service.example", transport=answering(case), retries=ONCE) as client:
        if "result" in case:
            assert await client.bundler("eth_chainId") == case["result"]
            return
        with pytest.raises(NetworkError) as raised:
            await client.bundler("eth_chainId")
    error = raised.value
    assert isinstance(error, JsonRpcError) == ("refused" in case)
    if isinstance(error, JsonRpcError):
        code, message, data = refusal(case)
        assert (error.code, str(error), error.data) == (code, f"Network: {message}", data)


@NAMED
async def test_from_a_chain(case, monkeypatch):
    monkeypatch.setattr("holdfast.chain.rpc.RETRY_DELAYS_S", (0.0, 0.0))
    transport = HttpTransport("https://service.example", transport=answering(case), retries=ONCE)
    rpc = RpcClient("https://chain.example", ChainTransport(transport))
    if "result" in case:
        assert await rpc.call("eth_chainId") == case["result"]
        return
    with pytest.raises(RpcError) as raised:
        await rpc.call("eth_chainId")
    code, message, data = refusal(case) if "refused" in case else (None, str(raised.value), None)
    assert (raised.value.code, str(raised.value), raised.value.data) == (code, message, data)


def test_both_clients_wait_longer_for_a_service_than_it_waits_for_a_bundler():
    browser = Path(__file__).resolve().parents[3] / "browser/src/http/http.ts"
    limit = re.search(r"const TIMEOUT_MS = ([0-9_]+);", browser.read_text())
    assert limit is not None
    assert int(limit[1]) / 1000 == DEFAULT_TIMEOUT.read == WHOLE_REQUEST_S > PROXY_TIMEOUT_S
    attempts = len(RETRY_DELAYS_S) + 1
    assert attempts * WHOLE_REQUEST_S + sum(RETRY_DELAYS_S) < BUNDLER_WITHIN_S

"""Both transport adapters return the same responses and raise the same errors with a real HTTP server."""

import json
from contextlib import asynccontextmanager

import aiohttp
import httpx2
import pytest
from aiohttp import web
from tests.support.upstreams import raw_upstream, upstream

from holdfast.chain.errors import TransportError
from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import MAX_ANSWER_BYTES, AiohttpTransport, Httpx2Transport, limited_response


@asynccontextmanager
async def transport_of(kind):
    if kind == "aiohttp":
        async with aiohttp.ClientSession(response_class=limited_response()) as session:
            yield AiohttpTransport(session)
    else:
        async with httpx2.AsyncClient(trust_env=False) as client:
            yield Httpx2Transport(client)


def endpoint(request, body):
    asked = json.loads(body)
    if asked["method"] == "eth_getLogs":
        return web.Response(body=b" " * (MAX_ANSWER_BYTES + 1))
    if asked["method"] == "eth_gasPrice":
        return web.Response(status=403, text="{}")
    if asked["method"] == "eth_syncing":
        return web.Response(status=302, headers={"Location": "/"})
    assert request.content_type == "application/json"
    return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": hex(84532)})


@pytest.fixture
async def url():
    async with upstream() as served:
        served.answer = endpoint
        yield served.url


@pytest.mark.parametrize("kind", ["aiohttp", "httpx2"])
@pytest.mark.parametrize(
    ("method", "message"), [("eth_getLogs", "over"), ("eth_gasPrice", "403"), ("eth_syncing", "302")]
)
async def test_a_call_over_http_and_what_is_no_answer(kind, method, message, url):
    async with transport_of(kind) as transport:
        assert await RpcClient(url, transport).chain_id() == 84532
        with pytest.raises(TransportError, match=message):
            await RpcClient(url, transport).call(method)


@pytest.mark.parametrize("kind", ["aiohttp", "httpx2"])
@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://no-such-host.invalid/", "the host's name was not found"),
        ("http://127.0.0.1:9/", "nothing listens at this address"),
        ("http://[::1", "no answer"),
        ("http://localhost:99999/", "no answer"),
    ],
)
async def test_why_a_connection_failed_is_said_in_words(kind, address, words):
    async with transport_of(kind) as transport:
        with pytest.raises(TransportError) as raised:
            await transport.post(address, b"")
    assert str(raised.value).startswith(words)


async def test_a_server_with_many_interim_responses_is_left():
    """The process would do nothing else while aiohttp reads them."""
    hints = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000
    async with raw_upstream(hints + b"HTTP/1.1 200 OK\r\n\r\n") as url, transport_of("aiohttp") as transport:
        with pytest.raises(TransportError):
            await transport.post(url, b"{}")

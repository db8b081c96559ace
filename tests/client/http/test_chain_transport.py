"""Only bundler calls that cost something carry an idempotency key, so that they can be repeated."""

from __future__ import annotations

import asyncio
import contextlib
import json

import httpx
import pytest

from holdfast.chain.errors import RpcError
from holdfast.chain.rpc import RpcClient
from holdfast.client.http.calls import Retries
from holdfast.client.http.chain_transport import ChainTransport
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.http.transport import HttpTransport
from holdfast.wire.client_errors import NetworkError

SERVICE = "https://vault.example"


class _Service:
    """Handles each request with the next item: raises it if it is an error, or returns the status and the body."""

    def __init__(self, *answers: Exception | tuple[int, dict[str, object]]) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, body = answer
        return httpx.Response(status, json={**body, "id": json.loads(request.content)["id"]} if status == 200 else body)

    def rpc(self, url: str = f"{SERVICE}/api/bundler") -> RpcClient:
        http = HttpTransport(SERVICE, transport=httpx.MockTransport(self), retries=Retries(first_s=0.001))
        return RpcClient(url, ChainTransport(http), batches=False)

    @property
    def keys(self) -> list[str | None]:
        return [request.headers.get("idempotency-key") for request in self.requests]


SENT: tuple[int, dict[str, object]] = (200, {"jsonrpc": "2.0", "result": "0x01"})
LOST = httpx.ReadError("the connection broke")


@pytest.mark.parametrize("method", ["eth_sendUserOperation", "pm_sponsorUserOperation"])
async def test_a_lost_answer_is_asked_for_again_with_the_same_key(method: str) -> None:
    service = _Service(LOST, SENT, SENT)
    rpc = service.rpc()
    assert await rpc.call(method, []) == "0x01"
    assert await rpc.call(method, []) == "0x01"
    first, again, other = service.keys
    assert first is not None
    assert first == again != other
    assert service.requests[0].content == service.requests[1].content
    assert service.requests[0].headers["content-type"] == "application/json"


async def test_two_lost_answers_are_an_error() -> None:
    service = _Service(LOST, LOST)
    with pytest.raises(RpcError):
        await service.rpc().call("eth_sendUserOperation", [])
    assert len(set(service.keys)) == 1


async def test_a_repeat_waits_while_the_service_works_on_the_first_request() -> None:
    service = _Service(LOST, (409, {"error": "idempotency_key_in_use"}), SENT)
    assert await service.rpc().call("eth_sendUserOperation", []) == "0x01"
    assert len(set(service.keys)) == 1


async def test_a_refusal_is_not_repeated_and_is_the_cause() -> None:
    service = _Service((429, {"error": "rate_limited"}))
    with pytest.raises(RpcError) as refused:
        await service.rpc().call("eth_sendUserOperation", [])
    assert len(service.requests) == 1
    causes = [refused.value, refused.value.__cause__, getattr(refused.value.__cause__, "__cause__", None)]
    assert any(isinstance(cause, RequestRefused) for cause in causes)


@pytest.mark.parametrize(
    ("url", "method"),
    [
        (f"{SERVICE}/api/bundler", "eth_getUserOperationReceipt"),
        ("https://bundler.example/", "eth_sendUserOperation"),
    ],
)
async def test_reads_and_other_services_get_no_key(url: str, method: str) -> None:
    service = _Service(SENT)
    await service.rpc(url).call(method, [])
    assert service.keys == [None]


async def test_headers_that_trickle_end_with_the_whole_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte arrives in time, and the last of them ends the response."""

    handled = asyncio.Event()

    async def trickle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 100 + b"\r\nContent-Length: 2\r\n\r\n{}":
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.01)
        writer.close()
        handled.set()

    async with await asyncio.start_server(trickle, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        http = HttpTransport(url)
        monkeypatch.setattr(http, "_whole_s", 0.05)
        with pytest.raises(NetworkError, match="whole answer did not arrive in time"):
            await http.post(url, b"{}")
        await http.close()
        await handled.wait()

"""Runs the real service as a subprocess, with a fake chain and a fake bundler."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.http_servers import Handler, http_server
from tests.support.outboxes import codes_to
from tests.support.serving import running_server
from tests.support.upstreams import rpc_replies

PREDICTED = "0x" + "5a" * 20
STATE = "".join(f"{word:064x}" for word in (7, 0xD1D, 1, 0xAA, 0xBB))
_FUNCTION_OF_THREE = 2 + 8 + 3 * 64  # getAddress(uint256,uint256,uint256), as opposed to getAccountState(address)


class JsonHandler(Handler):
    protocol_version = "HTTP/1.1"
    answer: Callable[[str, str, bytes], tuple[int, object]]

    def handle_request(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, value = type(self).answer(self.command, self.path, body)
        payload = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_POST = do_DELETE = do_PUT = handle_request  # noqa: N815 - the base class's names


@contextmanager
def json_server(answer: Callable[[str, str, bytes], tuple[int, object]]) -> Iterator[str]:
    with http_server(type("Handler", (JsonHandler,), {"answer": staticmethod(answer)})) as port:
        yield f"http://127.0.0.1:{port}"


def chain_answer(_method: str, _path: str, body: bytes) -> tuple[int, object]:
    """A fake chain and bundler with only the JSON-RPC methods that the service calls."""
    fixed = {"eth_getBalance": hex(15 * 10**17), "eth_chainId": hex(84532), "eth_supportedEntryPoints": ["0x01"]}
    return 200, rpc_replies(body, {"eth_call": _called, **fixed})


def _called(call: dict[str, str], _block: str) -> str:
    data = call.get("data") or call.get("input") or ""
    if len(data) == _FUNCTION_OF_THREE:
        return "0x" + PREDICTED[2:].rjust(64, "0")
    return "0x" + (f"{2_500_000:064x}" if data.startswith("0x70a08231") else STATE)


class RunningService:
    def __init__(self, base_url: str, data_dir: Path) -> None:
        self.base_url, self.data_dir = base_url, data_dir

    def code_for(self, identifier: str) -> str:
        """Return the newest code that was sent to an identifier."""
        return codes_to(identifier, self.data_dir)[-1]


@contextmanager
def running_service(data_dir: Path, **settings: str) -> Iterator[RunningService]:
    """Run `holdfast serve` on a free loopback port, and always stop it at the end of the `with` block."""
    given: dict[str, Any] = {"HOLDFAST_LOG": "json", **settings}
    with running_server(data_dir, data_dir / "service.log", **given) as server:
        yield RunningService(server.url, data_dir)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A real service that all tests of a run share. Clients claim different IP addresses through X-Forwarded-For."""
    with json_server(chain_answer) as chain:
        urls = {"HOLDFAST_RPC_URL": chain, "HOLDFAST_RPC_URL_8453": chain, "HOLDFAST_BUNDLER_URL": chain}
        with running_service(tmp_path_factory.mktemp("service"), **urls) as running:
            yield running


class Coroutines:
    """Wraps a fake object so that its plain methods can be awaited."""

    def __init__(self, stand_in: object) -> None:
        self._stand_in = stand_in

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._stand_in, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            return method(*args, **kwargs)

        return call


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """The service with a real local chain, shared by the whole run; without Node, tests that need it are skipped."""
    from tests.support.availability import why_no_chain
    from tests.support.chain_service import chain_service

    if why := why_no_chain():
        pytest.skip(why)
    with chain_service(tmp_path_factory.mktemp("chain")) as running:
        yield running

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.chain.errors import TransportError


class FakeTransport:
    """A fake JSON-RPC endpoint: raises the errors in `faults`, then returns what `handler(method, params)` returns."""

    def __init__(self, handler: Callable[[str, list[Any]], Any], *, batches: bool = True) -> None:
        self.handler = handler
        self.batches = batches
        self.posts: list[Any] = []
        self.faults: list[Exception] = []

    async def post(self, url: str, body: bytes) -> bytes:
        asked = json.loads(body)
        self.posts.append(asked)
        if self.faults:
            raise self.faults.pop(0)
        if isinstance(asked, list):
            return self._batch(asked)
        return json.dumps(self._one(asked)).encode()

    def _batch(self, asked: list[Any]) -> bytes:
        if not self.batches:
            refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "no batches"}}
            return json.dumps(refusal).encode()
        return json.dumps([self._one(request) for request in reversed(asked)]).encode()

    def _one(self, request: dict[str, Any]) -> dict[str, Any]:
        result = self.handler(request["method"], request["params"])
        if isinstance(result, Exception):
            return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": 3, "message": str(result), "data": "0x08"}}
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}


class RawTransport:
    def __init__(self, text: str) -> None:
        self.text = text

    async def post(self, url: str, body: bytes) -> bytes:
        asked = json.loads(body)
        first = asked[0] if isinstance(asked, list) else asked
        return self.text.replace("{id}", str(first["id"])).encode()


@pytest.fixture
def lost() -> TransportError:
    return TransportError("connection lost")

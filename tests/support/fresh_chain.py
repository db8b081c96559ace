"""Runs a new anvil, and stops it at the end of the `with` block."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from tests.support.serving import becomes_true

from holdfast.chain.rpc import RpcClient
from holdfast.chain.transports import Httpx2Transport
from holdfast.world import guard
from holdfast.world.processes import free_port
from holdfast.world.tools import Tools

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = ROOT / "contracts"


@dataclass(frozen=True)
class Chain:
    url: str

    def run(self, question: Callable[[RpcClient], Awaitable[Any]]) -> Any:
        async def ask() -> Any:
            async with httpx2.AsyncClient(timeout=60) as http:
                return await question(RpcClient(self.url, Httpx2Transport(http), timeout_s=60))

        return asyncio.run(ask())

    def call(self, method: str, *params: Any) -> Any:
        return self.run(lambda rpc: rpc.call(method, params))

    @property
    def accounts(self) -> list[str]:
        accounts: list[str] = self.call("eth_accounts")
        return accounts

    def view(self, to: str, data: bytes) -> bytes:
        answer: bytes = self.run(lambda rpc: rpc.eth_call(to, data))
        return answer

    def transact(self, to: str, data: bytes, sender: str | None = None, value: int = 0) -> dict[str, Any]:
        transaction = {"from": sender or self.accounts[0], "to": to, "data": "0x" + data.hex(), "value": hex(value)}
        sent = self.call("eth_sendTransaction", transaction)
        deadline = time.monotonic() + 60
        receipt: dict[str, Any] = {}
        while not receipt:
            receipt = self.call("eth_getTransactionReceipt", sent) or {}
            assert time.monotonic() < deadline, "anvil did not mine"
            time.sleep(0.005)
        assert receipt["status"] == "0x1", "the transaction failed"
        return receipt


@contextmanager
def run_anvil(tools: Tools, *arguments: str) -> Iterator[Chain]:
    port = free_port()
    command = [str(tools.anvil), "--host", "127.0.0.1", "--port", str(port), "--hardfork", "osaka", "-q", *arguments]
    # The guard process stops anvil when this process ends for any reason.
    guarded = [sys.executable, "-I", "-S", guard.__file__, *command]
    with subprocess.Popen(guarded, stdin=subprocess.PIPE) as process:
        try:
            yield _ready(Chain(f"http://127.0.0.1:{port}"), process)
        finally:
            process.terminate()


def _ready(chain: Chain, process: subprocess.Popen[bytes]) -> Chain:
    def answers() -> bool:
        assert process.poll() is None, "anvil ended while starting"
        with suppress(httpx2.TransportError):
            httpx2.post(chain.url, json={"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}, timeout=30)
            return True
        return False

    assert becomes_true(answers), "anvil did not start"
    return chain

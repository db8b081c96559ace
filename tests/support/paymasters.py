"""Bundlers and paymasters as others operate them: without a sponsor, or ERC-7677."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx2
from tests.support.chain_service import ChainService
from tests.support.running_service import json_server

from holdfast.chain.approvals import approval_hash
from holdfast.chain.contracts import ADDRESSES
from holdfast.chain.entry_points import V07
from holdfast.chain.packed_operations import pack
from holdfast.chain.user_operations import UserOperation
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.world.anvil import CHAIN_ID

PAYMASTER = from_hex(ADDRESSES["VerifyingPaymaster"])
PLACEHOLDER = bytes(12) + b"\x11" * 64 + b"\x1b"
FIELDS = ("paymaster", "paymasterData", "paymasterVerificationGasLimit", "paymasterPostOpGasLimit")


class Bundler:
    """Forwards requests to the local world's bundler but hides the sponsor; `asked` lists the requested methods."""

    def __init__(self, chain: ChainService) -> None:
        self.chain = chain
        self.asked: list[str] = []

    def answer(self, _method: str, _path: str, body: bytes) -> tuple[int, object]:
        request = json.loads(body)
        self.asked.append(request["method"])
        own = getattr(self, request["method"], None)
        if own is None and request["method"].startswith("pm_"):
            return 200, failure(request, -32601, "the method does not exist / is not available")
        return 200, own(request) if own else self.forwarded(request)

    def forwarded(self, request: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = httpx2.post(self.chain.bundler_url, json=request, timeout=30).json()
        return answer

    @contextmanager
    def served(self) -> Iterator[str]:
        with json_server(self.answer) as url:
            yield url


class Paymaster:
    """A paymaster like a commercial one: it follows ERC-7677, expects a policy in the context, and is not a bundler."""

    def __init__(self, chain: ChainService) -> None:
        self.chain = chain
        self.asked: list[str] = []
        self.refuses: str | None = None
        self.policy: str | None = "p"

    def answer(self, _method: str, path: str, body: bytes) -> tuple[int, object]:
        request = json.loads(body)
        self.asked.append(request["method"])
        form, entry_point, chain_id, context = request["params"]
        assert (path, entry_point, chain_id) == ("/v2/key", V07.address, hex(CHAIN_ID))
        assert not {"signature", *FIELDS} & set(form)
        if self.refuses or context.get("policy") != self.policy:
            return 200, failure(request, -32000, self.refuses or "unknown policy")
        operation = stubbed(UserOperation.from_rpc(form))
        if request["method"] == "pm_getPaymasterData":
            fields = signed(self.chain, operation).to_rpc()
            return 200, success(request, {name: fields[name] for name in FIELDS[:2]})
        stub = {name: operation.to_rpc()[name] for name in FIELDS}
        return 200, success(request, {"sponsor": {"name": "Example"}, **stub, "isFinal": False})

    @contextmanager
    def served(self) -> Iterator[str]:
        with json_server(self.answer) as url:
            yield f"{url}/v2/key"


def stubbed(operation: UserOperation) -> UserOperation:
    return replace(
        operation,
        paymaster=PAYMASTER,
        paymaster_verification_gas_limit=60_000,
        paymaster_post_op_gas_limit=1,
        paymaster_data=PLACEHOLDER,
    )


def signed(chain: ChainService, operation: UserOperation) -> UserOperation:
    """Return the operation with a signature that VerifyingPaymaster accepts, valid for an hour of the chain's time."""
    now = max(int(chain.rpc("eth_getBlockByNumber", "latest", False)["timestamp"], 16), int(time.time()))
    validity = (now + 3600).to_bytes(6) + bytes(6)
    digest = approval_hash(pack(operation), V07.address, CHAIN_ID, validity)
    return replace(operation, paymaster_data=validity + from_hex(chain.rpc("eth_sign", chain.sponsor, to_hex(digest))))


def success(request: dict[str, Any], result: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def failure(request: dict[str, Any], code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}

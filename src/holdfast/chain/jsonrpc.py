"""Pure functions that write JSON-RPC 2.0 requests and check responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from holdfast.chain.errors import RpcError
from holdfast.chain.values import printable
from holdfast.wire import json_rpc

# Methods that change nothing, so a call may be repeated. Calls of all other methods are sent once and never in a batch.
READS = frozenset(
    {
        "eth_blockNumber",
        "eth_call",
        "eth_chainId",
        "eth_estimateGas",
        "eth_estimateUserOperationGas",
        "eth_feeHistory",
        "eth_gasPrice",
        "eth_getBalance",
        "eth_getBlockByHash",
        "eth_getBlockByNumber",
        "eth_getCode",
        "eth_getLogs",
        "eth_getStorageAt",
        "eth_getTransactionByHash",
        "eth_getTransactionCount",
        "eth_getTransactionReceipt",
        "eth_getUserOperationByHash",
        "eth_getUserOperationReceipt",
        "eth_maxPriorityFeePerGas",
        "eth_supportedEntryPoints",
        "eth_syncing",
        "net_version",
        "pimlico_getUserOperationGasPrice",
        "web3_clientVersion",
    }
)


# msgspec's own conversion takes 6 µs for some numbers: an endpoint could send a response that takes two seconds.
_decode = msgspec.json.Decoder(float_hook=float).decode


@dataclass(frozen=True, slots=True)
class RpcRequest:
    """One JSON-RPC call, and the ID that its response must have."""

    id: int
    method: str
    params: list[Any]

    def envelope(self) -> dict[str, object]:
        """Return the JSON-RPC 2.0 request object."""
        return {"jsonrpc": "2.0", "id": self.id, "method": self.method, "params": self.params}


def is_read(method: str) -> bool:
    """Return whether `method` changes nothing, so that a call may be repeated."""
    return method in READS


def write(requests: list[RpcRequest], *, batch: bool) -> bytes:
    """Return the HTTP body for one request or for a batch."""
    envelopes = [request.envelope() for request in requests]
    return msgspec.json.encode(envelopes if batch else envelopes[0])


def parse(body: bytes) -> object:
    """Return the JSON value of a response body. Raises RpcError for anything else."""
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RpcError("answer is not JSON") from error


def outcome(answer: object, request: RpcRequest) -> object:
    """Return the result from a response object. Raises RpcError for an error object and for anything malformed."""
    try:
        return json_rpc.result_of(answer, request.id)
    except json_rpc.ErrorResponse as error:
        raise RpcError(printable(error.message), error.code, error.data, from_endpoint=True) from None
    except json_rpc.MalformedResponse as error:
        raise RpcError(str(error)) from None


def refuses_batches(answer: object, size: int) -> bool:
    """Return whether the response refuses a batch of `size` calls: it is not a list, or is one error without an ID."""
    if not isinstance(answer, list):
        return True
    return size > 1 and len(answer) == 1 and isinstance(answer[0], dict) and answer[0].get("id") is None


def outcomes(answers: list[object], requests: list[RpcRequest]) -> list[object]:
    """Return each request's result or RpcError, in the order of the requests, not that of the responses."""
    by_id: dict[int, Any] = {}
    for answer in answers:
        identity = answer.get("id") if isinstance(answer, dict) else None
        if isinstance(identity, int) and not isinstance(identity, bool):
            by_id[identity] = _TWICE if identity in by_id else answer
    return [_outcome_or_error(by_id.get(request.id), request) for request in requests]


def _outcome_or_error(answer: Any, request: RpcRequest) -> Any:
    if answer is None or answer is _TWICE:
        return RpcError("the batch does not contain exactly one response to each request")
    try:
        return outcome(answer, request)
    except RpcError as error:
        return error


_TWICE = object()

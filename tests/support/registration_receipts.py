"""Receipts of transactions that register a DID, as a chain's endpoint returns them."""

from __future__ import annotations

from typing import Any

from tests.support.api import DID
from tests.support.upstreams import rpc_results

from holdfast.chain.contracts import ADDRESSES
from holdfast.wire.keccak import alias_hash, did_hash, keccak256

REGISTRY = ADDRESSES["DIDRegistry"]
EVENT = "0x" + keccak256(b"DidRegistered(bytes32,address,string)").hex()
TX = "0x" + "ab" * 32
ALIAS_EVENT = "0x" + keccak256(b"AliasRegistered(bytes32,bytes32,address)").hex()
CONTROLLER = "0x" + "c0" * 20


def word(data: bytes) -> str:
    return "0x" + data.rjust(32, b"\0").hex()


def log(registry: str, *topics: str) -> dict[str, Any]:
    return {
        "address": registry.lower(), "topics": list(topics), "data": "0x",
        "blockNumber": "0x2a", "blockHash": "0x" + "01" * 32, "transactionHash": TX, "transactionIndex": "0x0",
        "logIndex": "0x0", "removed": False,
    }  # fmt: skip


def receipt(
    did: str = DID, *, registry: str = REGISTRY, status: str = "0x1", event: str = EVENT, alias: str | None = None,
    controller: str = CONTROLLER, block: str = "0x2a",
) -> dict[str, Any]:  # fmt: skip
    hashed, by = word(did_hash(did)), word(bytes.fromhex(controller[2:]))
    logs = [log(registry, event, hashed, by)]
    if alias is not None:
        logs.append(log(registry, ALIAS_EVENT, word(alias_hash(alias)), hashed, by))
    logs = [{**each, "blockNumber": block} for each in logs]
    return {
        "transactionHash": TX, "blockNumber": block, "blockHash": "0x" + "01" * 32, "transactionIndex": "0x0",
        "status": status, "logs": logs, "from": "0x" + "00" * 20, "to": registry, "gasUsed": "0x1",
        "cumulativeGasUsed": "0x1", "effectiveGasPrice": "0x1", "contractAddress": None, "type": "0x2", "logsBloom": "0x",
    }  # fmt: skip


def chain_at(head: int, mined: Any) -> Any:
    return rpc_results({"eth_getTransactionReceipt": mined, "eth_blockNumber": hex(head)})

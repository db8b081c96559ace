"""Strict parsers for Ethereum's JSON-RPC values. Each function raises RpcError for a value in any other form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from holdfast.chain.errors import RpcError
from holdfast.wire.encoding import to_hex

_QUANTITY = re.compile(r"0x(0|[1-9a-fA-F][0-9a-fA-F]{0,63})")
_ADDRESS_BYTES, _HASH_BYTES = 20, 32
_COUNT_BITS = 47  # ten minutes after such a time, ERC-4337's six bytes are not full


@dataclass(frozen=True, slots=True)
class Log:
    """An event that a contract emitted. `index` counts from 0 within the block."""

    address: bytes
    topics: tuple[bytes, ...]
    data: bytes
    block_number: int
    block_hash: bytes
    transaction_hash: bytes
    index: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """A mined transaction's receipt. `succeeded` is status 1 of EIP-658."""

    transaction_hash: bytes
    block_number: int
    block_hash: bytes
    succeeded: bool
    gas_used: int
    logs: tuple[Log, ...]


def printable(text: str) -> str:
    """Return a stranger's text without characters that are not shown, or move others, which a terminal would obey."""
    shown = (it if it.isprintable() or category(it) == "Zs" else "\N{REPLACEMENT CHARACTER}" for it in text)
    return "".join(shown)


def quantity(value: object) -> int:
    """Return the integer that a quantity encodes: `0x` followed by hex digits without leading zeros."""
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise RpcError("answer is not a quantity")
    return int(value, 16)


def count(value: object) -> int:
    """Return how many blocks, seconds, units of gas or places a quantity counts, if a chain can have as many."""
    number = quantity(value)
    if number >> _COUNT_BITS:
        raise RpcError("answer counts more than a chain has")
    return number


def data(value: object, size: int | None = None) -> bytes:
    """Return the bytes that `0x` followed by hex digits encodes: exactly `size` bytes if `size` is given."""
    if not isinstance(value, str) or value[:2] != "0x":
        raise RpcError("answer is not hexadecimal data")
    try:
        result = bytes.fromhex(value[2:])  # a regular expression takes 170 times as long
    except ValueError:
        raise RpcError("answer is not hexadecimal data") from None
    if 2 * len(result) != len(value) - 2:  # `fromhex` skips spaces
        raise RpcError("answer is not hexadecimal data")
    if size is not None and len(result) != size:
        raise RpcError(f"answer of {len(result)} bytes where {size} were due")
    return result


def logs(value: object) -> list[Log]:
    """Return the logs in a JSON array of log objects."""
    if not isinstance(value, list):
        raise RpcError("answer is not a list of logs")
    return [log(item) for item in value]


def log(value: object) -> Log:
    """Return the log that a log object of a mined block describes."""
    topics = field(value, "topics")
    if not isinstance(topics, list):
        raise RpcError("answer has a log without topics")
    return Log(
        address=data(field(value, "address"), _ADDRESS_BYTES),
        topics=tuple(data(topic, _HASH_BYTES) for topic in topics),
        data=data(field(value, "data")),
        block_number=count(field(value, "blockNumber")),
        block_hash=data(field(value, "blockHash"), _HASH_BYTES),
        transaction_hash=data(field(value, "transactionHash"), _HASH_BYTES),
        index=count(field(value, "logIndex")),
    )


def receipt(value: object, transaction_hash: str) -> Receipt | None:
    """Return the receipt of this transaction that a JSON object describes, or None for null."""
    if value is None:
        return None
    found = Receipt(
        transaction_hash=data(field(value, "transactionHash"), _HASH_BYTES),
        block_number=count(field(value, "blockNumber")),
        block_hash=data(field(value, "blockHash"), _HASH_BYTES),
        succeeded=quantity(field(value, "status")) == 1,
        gas_used=count(field(value, "gasUsed")),
        logs=tuple(logs(field(value, "logs"))),
    )
    mined = (found.transaction_hash, found.block_hash, found.block_number)
    if to_hex(found.transaction_hash) != transaction_hash.lower():
        raise RpcError("answer is another transaction's receipt")
    if any((each.transaction_hash, each.block_hash, each.block_number) != mined for each in found.logs):
        raise RpcError("answer has a receipt with another transaction's logs")
    return found


def field(value: Any, name: str) -> Any:
    """Return a member of a JSON object. Raises RpcError for any other value, and without such a member."""
    if not isinstance(value, dict) or name not in value:
        raise RpcError(f"answer lacks {name}")
    return value[name]

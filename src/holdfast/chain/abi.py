"""Encodes all ABI types and decodes call arguments, using eth-abi. `holdfast.wire.abi` is the fast path.

eth-abi takes 0.4 s to import and comes with the extras `client` and `world`, so it is imported only when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.wire.abi import selector

if TYPE_CHECKING:
    from collections.abc import Sequence


def encode(types: Sequence[str], values: Sequence[object]) -> bytes:
    """Return the ABI encoding of `values`, whose ABI types are `types`."""
    from eth_abi.abi import encode as encoded

    return encoded(types, values)


def call_data(signature: str, *values: object) -> bytes:
    """Return the selector and ABI-encoded arguments for a call to `signature`, such as `transfer(address,uint256)`."""
    return selector(signature) + encode(_types(signature), values)


def decode_call(signature: str, data: bytes) -> tuple[Any, ...] | None:
    """Return the arguments if `data` calls the function `signature`, else None.

    Strings are returned as bytes, as they may not be valid UTF-8.
    """
    from eth_abi.abi import decode
    from eth_abi.exceptions import DecodingError

    if data[:4] != selector(signature):
        return None
    try:
        return tuple(decode([kind.replace("string", "bytes") for kind in _types(signature)], data[4:]))
    except DecodingError:
        return None


def _types(signature: str) -> list[str]:
    from eth_abi.grammar import TupleType, parse

    arguments = signature[signature.index("(") :]
    if arguments == "()":
        return []
    parsed = parse(arguments)
    assert isinstance(parsed, TupleType)
    return [kind.to_type_str() for kind in parsed.components]

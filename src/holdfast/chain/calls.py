"""Call data for the contracts, by function signature, and the calls that a vault account's operations are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.wire.keccak import alias_hash, did_hash, keccak256

if TYPE_CHECKING:
    from collections.abc import Sequence

Call = tuple[str, int, bytes]  # target's address, wei, call data

_NO_ALIAS = bytes(32)


def call_data(signature: str, *values: Any) -> bytes:
    """Selector and ABI-encoded arguments of a call of `signature`, such as `transfer(address,uint256)`."""
    # eth-abi takes 0.4 s to import and stands in the extras `client` and `world`.
    from eth_abi.abi import encode

    arguments = signature[signature.index("(") :]
    # The argument list is itself a tuple type; encoding it as one would prepend an offset where it is dynamic.
    return selector(signature) + encode(_split(arguments[1:-1]), values)


def selector(signature: str) -> bytes:
    """The first four bytes of the signature's Keccak-256."""
    return keccak256(signature.encode())[:4]


def create_account(x: int, y: int, salt: int = 0) -> bytes:
    """What the factory is told in an operation's factory data."""
    return call_data("createAccount(uint256,uint256,uint256)", x, y, salt)


def execute(call: Call) -> bytes:
    """An operation's call data for one call in the account's name."""
    return call_data("execute(address,uint256,bytes)", *call)


def execute_batch(calls: Sequence[Call]) -> bytes:
    """An operation's call data for several calls, all or none."""
    return call_data("executeBatch((address,uint256,bytes)[])", list(calls))


def register(registry: str, did: str, alias: str | None = None, metadata_cid: str = "") -> Call:
    """Register the DID and, where given, its first alias; both hashed as the registry knows them."""
    hashes = (did_hash(did), _NO_ALIAS if alias is None else alias_hash(alias))
    return registry, 0, call_data("register(bytes32,bytes32,string)", *hashes, metadata_cid)


def transfer(token: str, to: str, amount: int) -> Call:
    """Pay `amount` of the ERC-20 `token`'s smallest unit."""
    return token, 0, call_data("transfer(address,uint256)", to, amount)


def _split(types: str) -> list[str]:
    """Top-level types of an argument list: commas within tuples do not part."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(types):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(types[start:at])
            start = at + 1
    return [*parts, types[start:]] if types else []

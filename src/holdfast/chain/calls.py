"""Call data for Holdfast's contracts and for a vault account's user operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data, decode_call
from holdfast.wire.keccak import alias_hash, did_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

Call = tuple[str, int, bytes]  # target's address, wei, call data

NO_SECRET = bytes(32)
_NO_ALIAS = bytes(32)


def create_account(x: int, y: int, salt: int = 0) -> bytes:
    """Return the factory data for a user operation: the call to the factory that creates an account."""
    return call_data("createAccount(uint256,uint256,uint256)", x, y, salt)


def execute(call: Call) -> bytes:
    """Return call data for a user operation in which the account makes one call."""
    return call_data("execute(address,uint256,bytes)", *call)


def executed(data: bytes) -> Call | None:
    """Return the call that a user operation's call data makes; None unless it makes exactly one."""
    found = decode_call("execute(address,uint256,bytes)", data)
    return None if found is None else (found[0], found[1], found[2])


def execute_batch(calls: Sequence[Call]) -> bytes:
    """Return call data for a user operation in which the account makes several calls, of which all or none succeed."""
    return call_data("executeBatch((address,uint256,bytes)[])", list(calls))


def commit(registry: str, commitment: bytes) -> Call:
    """Return the call that posts the commitment to a later claim (`holdfast.chain.contracts.commitment`)."""
    return registry, 0, call_data("commit(bytes32)", commitment)


def register(
    registry: str,
    x: int,
    y: int,
    *,
    salt: int = 0,
    alias: str | None = None,
    secret: bytes = NO_SECRET,
    metadata_cid: str = "",
) -> Call:
    """Return the call that registers the `did:new` of the calling account's first key, and its first alias, if given.

    Args:
        registry: Address of the DIDRegistry.
        x: X of the account's first key, also after a change of keys.
        y: Y of that key.
        salt: The salt with which the account was created.
        alias: Its first alias; without one no commitment is needed.
        secret: The 32-byte secret of the commitment to the alias.
        metadata_cid: IPFS CID of the DID's metadata, or empty.
    """
    signature = "register(uint256,uint256,uint256,bytes32,bytes32,string)"
    return registry, 0, call_data(signature, x, y, salt, _alias(alias), secret, metadata_cid)


def register_foreign(
    registry: str, did: str, *, alias: str | None = None, secret: bytes = NO_SECRET, metadata_cid: str = ""
) -> Call:
    """Return the call that registers a DID with a method other than `did:new`, and its first alias, if given.

    The call needs an earlier commitment.
    """
    signature = "registerForeign(string,bytes32,bytes32,string)"
    return registry, 0, call_data(signature, did, _alias(alias), secret, metadata_cid)


def register_alias(registry: str, alias: str, did: str, secret: bytes) -> Call:
    """Return the call that adds an alias to the calling account's DID.

    The call needs an earlier commitment with this 32-byte secret.
    """
    return registry, 0, call_data("registerAlias(bytes32,bytes32,bytes32)", alias_hash(alias), did_hash(did), secret)


def transfer(token: str, to: str, amount: int) -> Call:
    """Return the call that transfers `amount` of the ERC-20 `token`, in its smallest unit."""
    return token, 0, call_data("transfer(address,uint256)", to, amount)


def _alias(alias: str | None) -> bytes:
    return _NO_ALIAS if alias is None else alias_hash(alias)

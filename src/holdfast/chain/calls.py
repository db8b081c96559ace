"""Call data for the contracts, by function signature, and the calls that a vault account's operations are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.abi import call_data
from holdfast.wire.keccak import alias_hash, did_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

Call = tuple[str, int, bytes]  # target's address, wei, call data

NO_SECRET = bytes(32)
_NO_ALIAS = bytes(32)


def create_account(x: int, y: int, salt: int = 0) -> bytes:
    """What the factory is told in an operation's factory data."""
    return call_data("createAccount(uint256,uint256,uint256)", x, y, salt)


def execute(call: Call) -> bytes:
    """An operation's call data for one call in the account's name."""
    return call_data("execute(address,uint256,bytes)", *call)


def execute_batch(calls: Sequence[Call]) -> bytes:
    """An operation's call data for several calls, all or none."""
    return call_data("executeBatch((address,uint256,bytes)[])", list(calls))


def commit(registry: str, commitment: bytes) -> Call:
    """Post a commitment to a claim of an operation that follows (`holdfast.chain.contracts.commitment`)."""
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
    """Register the `did:new` of the key that the calling account was created with, and where given its first alias.

    Args:
        registry: Address of the DIDRegistry.
        x: X of the account's first key, also after a change of key.
        y: Y of it.
        salt: The salt that the account was created with.
        alias: Its first alias; without one no commitment is needed.
        secret: The 32 bytes that went into the commitment to the alias.
        metadata_cid: IPFS CID of the DID's metadata, or empty.
    """
    signature = "register(uint256,uint256,uint256,bytes32,bytes32,string)"
    return registry, 0, call_data(signature, x, y, salt, _alias(alias), secret, metadata_cid)


def register_foreign(
    registry: str, did: str, *, alias: str | None = None, secret: bytes = NO_SECRET, metadata_cid: str = ""
) -> Call:
    """Register a DID of another method than `did:new`, and where given its first alias; it was committed to before."""
    signature = "registerForeign(string,bytes32,bytes32,string)"
    return registry, 0, call_data(signature, did, _alias(alias), secret, metadata_cid)


def register_alias(registry: str, alias: str, did: str, secret: bytes) -> Call:
    """Give the calling account's DID a further alias; it was committed to before, with this 32-byte secret."""
    return registry, 0, call_data("registerAlias(bytes32,bytes32,bytes32)", alias_hash(alias), did_hash(did), secret)


def set_public_key(account: str, x: int, y: int) -> Call:
    """Hand the account over to another P-256 key, at the same address; only the account itself may (in `execute`).

    Nothing proves that anybody holds the new key: the wrong point of the curve locks the account for good.
    """
    return account, 0, call_data("setPublicKey(uint256,uint256)", x, y)


def transfer(token: str, to: str, amount: int) -> Call:
    """Pay `amount` of the ERC-20 `token`'s smallest unit."""
    return token, 0, call_data("transfer(address,uint256)", to, amount)


def _alias(alias: str | None) -> bytes:
    return _NO_ALIAS if alias is None else alias_hash(alias)

"""The commitments that the registry requires before a claim (docs/contracts.md, "Claims").

An alias, or a DID with a method other than `did:new`, belongs to the first account that claims it. The registry accepts
a claim only if an earlier block contains its commitment, so copying a pending claim gains nothing. Anyone may post the
commitment on behalf of the account that will make the claim. A sponsor can derive the needed commitments from the
operation's call data (`commitments_needed`) and post them. Without such a sponsor, the account posts the commitment
itself, in an earlier operation (`holdfast.chain.calls.commit`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.chain.abi import decode_call
from holdfast.chain.contracts.addresses import DID_REGISTRY
from holdfast.wire.keccak import did_hash, did_of_key, keccak256

if TYPE_CHECKING:
    from collections.abc import Iterator

ZERO_SECRET = bytes(32)

_EXECUTE = "execute(address,uint256,bytes)"
_EXECUTE_BATCH = "executeBatch((address,uint256,bytes)[])"
_CLAIMS = {
    "register": "register(uint256,uint256,uint256,bytes32,bytes32,string)",
    "registerForeign": "registerForeign(string,bytes32,bytes32,string)",
    "registerAlias": "registerAlias(bytes32,bytes32,bytes32)",
}


def commitment(did_hash: bytes, alias_hash: bytes, controller: str, secret: bytes = ZERO_SECRET) -> bytes:
    """Return the 32-byte commitment to pass to `DIDRegistry.commit`; `DIDRegistry.commitmentOf` returns the same.

    Args:
        did_hash: 32-byte hash of the DID.
        alias_hash: 32-byte hash of the alias, or 32 zero bytes for none.
        controller: Address of the account that will claim.
        secret: 32 bytes that keep the commitment from being guessed: random, or zero if others do not know the
        account's address yet.

    Raises:
        ValueError: An argument has the wrong length.
    """
    account = bytes.fromhex(controller.removeprefix("0x"))
    if [len(part) for part in (did_hash, alias_hash, account, secret)] != [32, 32, 20, 32]:
        raise ValueError("a commitment takes 32 bytes of DID hash, alias hash and secret, and a 20-byte address")
    return keccak256(did_hash + alias_hash + bytes(12) + account + secret)


def commitments_needed(sender: str, call_data: bytes, registry: str = DID_REGISTRY) -> list[bytes]:
    """Return the commitments that must be posted before an operation of `sender` with this call data can succeed.

    The result is empty if the call data makes no claim or is not for a vault account.
    """
    calls = inner_calls(call_data)
    target = registry.lower()
    found = (_of_claim(sender, name, values) for name, values in _claims(calls, target))
    return [needed for needed in found if needed is not None]


def inner_calls(call_data: bytes) -> list[tuple[str, bytes]]:
    """Return the target and call data of each call that the account's `execute` or `executeBatch` makes."""
    single = decode_call(_EXECUTE, call_data)
    if single is not None:
        return [(single[0], single[2])]
    batch = decode_call(_EXECUTE_BATCH, call_data)
    return [(target, data) for target, _, data in batch[0]] if batch is not None else []


def _claims(calls: list[tuple[str, bytes]], registry: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for target, data in calls:
        if target.lower() != registry:
            continue
        for name, signature in _CLAIMS.items():
            values = decode_call(signature, data)
            if values is not None:
                yield name, values


def _of_claim(sender: str, name: str, values: tuple[Any, ...]) -> bytes | None:
    """Return the commitment that a claim needs; None for `register` without an alias, which needs no commitment."""
    match name:
        case "register":
            x, y, _, alias, secret, _ = values
            return commitment(did_hash(did_of_key(x, y)), alias, sender, secret) if any(alias) else None
        case "registerForeign":
            did, alias, secret, _ = values
            return commitment(keccak256(did), alias, sender, secret)
        case _:  # registerAlias puts the alias first
            alias, did, secret = values
            return commitment(did, alias, sender, secret)

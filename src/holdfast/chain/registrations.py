"""Does a transaction register this DID? The chain's half of `confirm_registrations`.

The registry's own event decides, so it does not matter whether the transaction is a direct call or a bundler's
handleOps that carries the operations of several people.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.wire.keccak import did_hash, keccak256

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.values import Log, Receipt

DID_REGISTERED = keccak256(b"DidRegistered(bytes32,address,string)")
_TRANSACTION_HASH = re.compile(r"0x[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The transaction registers the DID; it was mined in this block."""

    block_number: int


@dataclass(frozen=True, slots=True)
class Pending:
    """The chain has no receipt yet."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The transaction will never register the DID. `reason` is one of the four below."""

    reason: str


NOT_A_HASH = Refused("not_a_transaction_hash")
FAILED = Refused("transaction_failed")
NOT_A_REGISTRATION = Refused("no_registration_in_transaction")
ANOTHER_DID = Refused("another_did")

Verdict = Confirmed | Pending | Refused


def judge_registration(receipt: Receipt | None, *, registry: bytes, did: str) -> Verdict:
    """What `receipt` says about `did`, believing only events of the 20-byte address `registry`."""
    if receipt is None:
        return Pending()
    if not receipt.succeeded:
        return FAILED
    registered = {log.topics[1] for log in receipt.logs if _is_registration(log, registry)}
    if not registered:
        return NOT_A_REGISTRATION
    return Confirmed(receipt.block_number) if did_hash(did) in registered else ANOTHER_DID


async def confirm_registration(rpc: RpcClient, transaction_hash: str, *, registry: bytes, did: str) -> Verdict:
    """Read the receipt and judge it. Raises RpcError where the chain gives no usable answer."""
    if not _TRANSACTION_HASH.fullmatch(transaction_hash):
        return NOT_A_HASH
    return judge_registration(await rpc.get_transaction_receipt(transaction_hash), registry=registry, did=did)


def _is_registration(log: Log, registry: bytes) -> bool:
    # didHash and controller are indexed: three topics. An anonymous event of another shape must not be read.
    return log.address == registry and len(log.topics) == 3 and log.topics[0] == DID_REGISTERED  # noqa: PLR2004 - said above

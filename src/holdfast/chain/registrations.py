"""Checks whether a transaction registers a DID: the part of `confirm_registrations` that reads the chain.

Only the registry's events count, so the transaction may be a direct call or a bundler's `handleOps` with user
operations from several people.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.wire.keccak import alias_hash, did_hash, keccak256

if TYPE_CHECKING:
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.values import Log, Receipt

DID_REGISTERED = keccak256(b"DidRegistered(bytes32,address,string)")
ALIAS_REGISTERED = keccak256(b"AliasRegistered(bytes32,bytes32,address)")
_TRANSACTION_HASH = re.compile(r"0x[0-9a-fA-F]{64}")
_ADDRESS_BYTES = 20


@dataclass(frozen=True, slots=True)
class Sought:
    """What a transaction must have registered.

    Attributes:
        did: the DID.
        smart_account: the account that controls it, `0x` and 40 hex digits of any case; None if not given.
        handle: canonical handle that is registered with the DID; None for other identifiers.
    """

    did: str
    smart_account: str | None = None
    handle: str | None = None


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The transaction, mined in this block, registers the DID with this 20-byte controller."""

    block_number: int
    controller: bytes


@dataclass(frozen=True, slots=True)
class Pending:
    """The chain has no receipt for the transaction yet."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The transaction does not register the DID.

    Attributes:
        reason: one of the reasons below.
        contradicted: the chain contradicts the request, so that waiting cannot help.
        block_number: the transaction's block, if it was mined; ignored in comparisons.
    """

    reason: str
    contradicted: bool = False
    block_number: int | None = field(default=None, compare=False)


NOT_A_HASH = Rejected("not_a_transaction_hash")
FAILED = Rejected("transaction_failed")
NOT_A_REGISTRATION = Rejected("no_registration_in_transaction")
ANOTHER_DID = Rejected("another_did", contradicted=True)
ANOTHER_ACCOUNT = Rejected("another_account", contradicted=True)
ANOTHER_ALIAS = Rejected("another_alias", contradicted=True)
ANOTHERS_KEY = Rejected("controller_without_the_key", contradicted=True)

Verdict = Confirmed | Pending | Rejected


def judge_registration(receipt: Receipt | None, *, registry: bytes, sought: Sought) -> Verdict:
    """Return whether a receipt proves the registration; only events from the 20-byte address `registry` count."""
    if receipt is None:
        return Pending()
    verdict = _judged(receipt, registry, sought)
    return replace(verdict, block_number=receipt.block_number) if isinstance(verdict, Rejected) else verdict


def _judged(receipt: Receipt, registry: bytes, sought: Sought) -> Verdict:
    if not receipt.succeeded:
        return FAILED
    controllers = {log.topics[1]: log.topics[2] for log in receipt.logs if _is(log, registry, DID_REGISTERED, 3)}
    if not controllers:
        return NOT_A_REGISTRATION
    topic = controllers.get(did_hash(sought.did))
    if topic is None:
        return ANOTHER_DID
    controller = topic[-_ADDRESS_BYTES:]
    return _contradiction(receipt, registry, sought, controller) or Confirmed(receipt.block_number, controller)


def _contradiction(receipt: Receipt, registry: bytes, sought: Sought, controller: bytes) -> Rejected | None:
    """Return how the registration contradicts the request (a different account or alias), or None if it does not."""
    if sought.smart_account is not None and sought.smart_account.lower() != "0x" + controller.hex():
        return ANOTHER_ACCOUNT
    aliases = {log.topics[1] for log in receipt.logs if _claims_alias_of(log, registry, did_hash(sought.did))}
    if sought.handle is not None and aliases and alias_hash(sought.handle) not in aliases:
        return ANOTHER_ALIAS
    return None


async def confirm_registration(rpc: RpcClient, transaction_hash: str, *, registry: bytes, sought: Sought) -> Verdict:
    """Read the transaction's receipt and return whether it proves the registration.

    Raises RpcError if the chain returns no usable response.
    """
    if not _TRANSACTION_HASH.fullmatch(transaction_hash):
        return NOT_A_HASH
    return judge_registration(await rpc.get_transaction_receipt(transaction_hash), registry=registry, sought=sought)


def _claims_alias_of(log: Log, registry: bytes, of_did: bytes) -> bool:
    return _is(log, registry, ALIAS_REGISTERED, 4) and log.topics[2] == of_did


def _is(log: Log, registry: bytes, event: bytes, topics: int) -> bool:
    # Hash and controller are indexed. An anonymous event can have any topics, so their number is checked, too.
    return log.address == registry and len(log.topics) == topics and log.topics[0] == event

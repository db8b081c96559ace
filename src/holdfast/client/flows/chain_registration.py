"""Registers a DID on the chain, in one user operation, or in two if no sponsor posts the commitment to its alias.

The progress of a registration is recorded before each step, so that it survives an interruption.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import msgspec

from holdfast.client.flows.failures import AccountNotFunded, GasTooDear, OperationFailed, RegistrationRefused, is_stale
from holdfast.client.handles import canonical_handle
from holdfast.client.storage.notes import MemoryNotes, write_note
from holdfast.client.types import Attestation, Record
from holdfast.rules.identifiers import Channel
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import did_hash
from holdfast.wire.retries import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.chain import calls
    from holdfast.chain.bundler import OperationReceipt
    from holdfast.chain.user_operations import UserOperation
    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.flows.operations import SmartAccount
    from holdfast.client.storage.vault_store import VaultStore


class Progress(Record, frozen=True, kw_only=True):
    """The recorded progress of one registration. It contains no secret."""

    identifier: str
    channel: str
    session_requested: bool = False
    attestation: Attestation | None = None
    commitment_operation: str | None = None
    operation_hash: str | None = None
    tx_hash: str | None = None
    block_number: int | None = None
    smart_account: str | None = None


class ProgressStore:
    """The progress of one registration, in the vault's store or, without a store, in memory."""

    def __init__(self, store: VaultStore | None, did: str, identifier: str, channel: str) -> None:
        self._store, self._name = store or MemoryNotes(), f"registration:{did}"
        self.progress = Progress(identifier=identifier, channel=channel)
        with suppress(ValueError):  # what is damaged or of a later release counts as absent: the service knows the rest
            self.progress = _going_on(Progress.from_json(self._store.note(self._name) or ""), self.progress)

    def note(self, **changes: object) -> None:
        """Store the changed fields."""
        self.progress = msgspec.structs.replace(self.progress, **changes)
        write_note(self._store, self._name, self.progress)

    def forget(self) -> None:
        """Delete the recorded progress."""
        self._store.set_note(self._name, None)


def _going_on(noted: Progress, requested: Progress) -> Progress:
    """Return the parts of the recorded progress that are valid for the current request.

    Progress recorded for a different identifier is dropped, except for the transaction that registered the DID without
    an alias.
    """
    if (noted.identifier, noted.channel) == (requested.identifier, requested.channel):
        return noted
    if "handle" in {noted.channel, requested.channel}:
        return requested
    return msgspec.structs.replace(
        requested,
        operation_hash=noted.operation_hash,
        tx_hash=noted.tx_hash,
        block_number=noted.block_number,
        smart_account=noted.smart_account,
    )


class _Lack(Enum):
    """Reasons why the registry refuses a claim, by the names of its errors (docs/contracts.md, "Claims")."""

    COMMITMENT = "NotCommitted"
    TIME = "CommitmentExpired"
    BLOCK = "CommitmentTooNew"


async def prepared_claim(
    account: SmartAccount, call: calls.Call, commitment: int | Callable[[bool], Awaitable[int]]
) -> UserOperation:
    """Prepare the operation that claims an alias.

    Only the response to it shows whether a commitment must be posted first, and whether one that was posted is valid
    already.

    Args:
        account: what claims it.
        call: the claim.
        commitment: the number of the block that contains it; or posts it, if True although there is one that is no
            longer valid, and returns that.
    """
    after = commitment if isinstance(commitment, int) else None  # wait for the block after the commitment's
    for tries_left in reversed(range(OPERATIONS.claim_attempts)):
        try:
            return await account.prepared(call)
        except OperationFailed as error:
            lack = _lack_of(error)
            if lack is None or not tries_left:
                raise
        if not isinstance(commitment, int) and after is None and lack is not _Lack.BLOCK:
            after = await commitment(lack is _Lack.TIME)
        else:
            after = await account.next_block(after)
    raise AssertionError("the last try returns or raises")


def _lack_of(error: OperationFailed) -> _Lack | None:
    """Return why the registry refused an alias claim; None if the operation failed for a different reason.

    A revert without a reason probably means that the commitment was missing.
    """
    if isinstance(error, AccountNotFunded | GasTooDear) or is_stale(error):
        return None
    if error.reason is None:
        return _Lack.COMMITMENT if "revert" in str(error).lower() else None
    return next((lack for lack in _Lack if lack.value in error.reason), None)


@dataclass
class ChainRegistration:
    """Registers one DID, and optionally an alias, from where an interrupted attempt stopped."""

    client: AsyncServiceClient
    account: SmartAccount
    notes: ProgressStore
    tell: Callable[[str], Awaitable[None]]

    async def run(self, did: str) -> None:
        """Register the DID. Raises RegistrationRefused, OperationFailed, NetworkError."""
        self._did = did
        await self.account.open()
        state = await self.client.get_account_state(self.account.key.address)
        registered = from_hex(state.did) == did_hash(did)
        noted = self.notes.progress.operation_hash
        if noted is not None and (registered or await self._arrived(noted)):
            await self._receipt(from_hex(noted))
        elif registered:
            raise RegistrationRefused(
                "this DID is on the chain already: it was registered earlier, or from another device"
            )
        else:
            await self._register()

    async def _register(self) -> None:
        noted = self.notes.progress
        self._alias = canonical_handle(noted.identifier) if noted.channel == Channel.HANDLE else None
        call = await self.account.registration_call(self._alias, "register")
        prepared = (
            self.account.prepared(call) if self._alias is None else prepared_claim(self.account, call, self._commit)
        )
        operation = await self.account.signed(await prepared)
        operation_hash = self.account.hash(operation)
        self.notes.note(operation_hash=to_hex(operation_hash))
        await self.account.send(operation)
        await self.tell("sent to the chain")
        await self._receipt(operation_hash)

    async def _commit(self, anew: bool) -> int:  # noqa: FBT001 - for `prepared_claim`
        """Send the commitment, unless an interrupted attempt has and not `anew`. Return the number of its block."""
        noted = self.notes.progress.commitment_operation
        if not anew and noted and (receipt := await self._arrived(noted)):
            return receipt.block_number
        if self._alias is not None:
            await self.account.require_free(self._alias)
        call = await self.account.registration_call(self._alias, "commit")
        operation = await self.account.signed(await self.account.prepared(call))
        operation_hash = self.account.hash(operation)
        self.notes.note(commitment_operation=to_hex(operation_hash))
        await self.account.send(operation)
        await self.tell("commitment sent")
        receipt = await self.account.wait(operation_hash)
        await self.tell("committed")
        return receipt.block_number

    async def _receipt(self, operation_hash: bytes) -> None:
        receipt = await self.account.wait(operation_hash)
        self.notes.note(
            tx_hash=to_hex(receipt.transaction_hash),
            block_number=receipt.block_number,
            smart_account=self.account.key.address,
        )
        await self.tell("on the chain")

    async def _arrived(self, operation_hash: str) -> OperationReceipt | None:
        """Return the receipt of an interrupted attempt's operation, or None if it failed or was not mined."""
        try:
            return await self.account.wait(from_hex(operation_hash), OPERATIONS.receipt_again_s)
        except OperationFailed:
            return None

"""The registration on the chain: one operation, or two where an alias has to be committed to and no sponsor does it."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

from holdfast.chain import calls
from holdfast.chain.contracts import commitment
from holdfast.client.flows.failures import AccountNotFunded, GasTooDear, OperationFailed, RegistrationRefused, is_stale
from holdfast.client.flows.operations import hash_text
from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.errors import Refused
from holdfast.wire.keccak import alias_hash, did_hash

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.chain.user_operations import UserOperation
    from holdfast.client.flows.faces import Face
    from holdfast.client.flows.operations import SmartAccount
    from holdfast.client.flows.progress import Notes

_RECEIPT_AGAIN_S = 15.0
# A commitment counts from the block after its own on: chains of a block each 12 seconds, and some to spare.
_NEXT_BLOCK_WITHIN_S, _LOOK_EVERY_S = 60.0, 1.0
# The registry's day, less an hour in which the second operation arrives (docs/contracts.md, "Claims").
_COMMITMENT_LASTS_S = 23 * 3600
_NO_SECRET = bytes(32)


class ChainRegistration:
    """Brings one DID, and perhaps an alias, to the registry. Goes on from the notes of an interrupted attempt."""

    def __init__(
        self,
        client: Face,
        account: SmartAccount,
        notes: Notes,
        tell: Callable[[str], Awaitable[None]],
        now: Callable[[], float],
    ) -> None:
        self._client, self._account, self._notes = client, account, notes
        self._tell, self._now = tell, now

    async def run(self, did: str) -> None:
        """Register, and note the transaction. Raises RegistrationRefused, OperationFailed, NetworkError."""
        self._did = did
        await self._account.open()
        state = await self._client.get_account_state(self._account.key.address)
        registered = from_hex(state.did) == did_hash(did)
        noted = self._notes.progress.operation_hash
        if noted is not None and (registered or await self._arrived(noted)):
            await self._receipt(from_hex(noted))
        elif registered:
            raise RegistrationRefused("the chain has this DID already, registered earlier or from another device")
        else:
            await self._register()

    async def _register(self) -> None:
        self._alias = self._claimed_alias()
        operation = await self._account.signed(await self._prepared(self._registration()))
        operation_hash = self._account.hash(operation)
        self._notes.note(operation_hash=hash_text(operation_hash))
        await self._account.send(operation)
        await self._tell("sent to the chain")
        await self._receipt(operation_hash)

    async def _prepared(self, call: calls.Call) -> UserOperation:
        """The operation that registers. Whether a sponsor commits to the alias shows only when it is asked."""
        until = None
        while True:
            try:
                return await self._account.prepared(call)
            except OperationFailed as error:
                if not self._lacks_commitment(error) or (until is not None and self._clock() > until):
                    raise
            if until is None:
                await self._commit()
                until = self._clock() + _NEXT_BLOCK_WITHIN_S
            await asyncio.sleep(_LOOK_EVERY_S)

    def _lacks_commitment(self, error: OperationFailed) -> bool:
        """Some bundlers tell no reason of a revert: then the missing commitment is the likeliest."""
        if self._alias is None or isinstance(error, AccountNotFunded | GasTooDear) or is_stale(error):
            return False
        return "NotCommitted" in error.reason if error.reason else "revert" in str(error).lower()

    async def _commit(self) -> None:
        """Have the commitment on the chain: that of an interrupted attempt, while it lasts, or a new operation's."""
        noted = self._notes.progress
        lasts = noted.commitment_at is not None and self._now() < noted.commitment_at + _COMMITMENT_LASTS_S
        if lasts and noted.commitment_operation and await self._arrived(noted.commitment_operation):
            return
        call = calls.commit(self._account.contracts.did_registry, self._commitment())
        operation = await self._account.signed(await self._account.prepared(call))
        operation_hash = self._account.hash(operation)
        self._notes.note(commitment_operation=hash_text(operation_hash), commitment_at=self._now())
        await self._account.send(operation)
        await self._tell("commitment sent")
        await self._account.wait(operation_hash)
        await self._tell("committed")

    def _commitment(self) -> bytes:
        assert self._alias is not None  # without an alias nothing is committed to
        return commitment(did_hash(self._did), alias_hash(self._alias), self._account.key.address, self._secret())

    def _registration(self) -> calls.Call:
        key, registry = self._account.key, self._account.contracts.did_registry
        secret = self._secret() if self._alias is not None else _NO_SECRET
        return calls.register(registry, key.x, key.y, alias=self._alias, secret=secret)

    def _secret(self) -> bytes:
        """The commitment's secret, noted before it is used: what was committed to with it can be claimed later."""
        if self._notes.progress.secret is None:
            self._notes.note(secret=to_hex(secrets.token_bytes(32)))
        return from_hex(self._notes.progress.secret or "")

    def _claimed_alias(self) -> str | None:
        noted = self._notes.progress
        return canonical_handle(noted.identifier) if noted.channel == Channel.HANDLE else None

    async def _receipt(self, operation_hash: bytes) -> None:
        receipt = await self._account.wait(operation_hash)
        self._notes.note(
            tx_hash=to_hex(receipt.transaction_hash),
            block_number=receipt.block_number,
            smart_account=self._account.key.address,
        )
        await self._tell("on the chain")

    async def _arrived(self, operation_hash: str) -> bool:
        """Whether the operation of an interrupted attempt was mined: if it was not, its nonce is free for another."""
        try:
            await self._account.wait(from_hex(operation_hash), _RECEIPT_AGAIN_S)
        except OperationFailed:
            return False
        return True

    @staticmethod
    def _clock() -> float:
        return asyncio.get_running_loop().time()


def canonical_handle(text: str) -> str:
    """The handle as the service knows it, which is the alias on the chain. Raises ValueError for what cannot be one."""
    try:
        return parse_identifier(text, Channel.HANDLE).key
    except Refused:
        raise ValueError("handle: not one that can be registered") from None

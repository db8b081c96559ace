"""Makes the new passkey an owner of the account, by one change that the vault's key signs for every chain."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.signers import passkey_signer
from holdfast.client.callbacks import answered
from holdfast.client.flows.chains import served_chains
from holdfast.client.flows.failures import OperationFailed
from holdfast.client.flows.second_key import SecondKeyMissing
from holdfast.client.moving.values import MoveRefused
from holdfast.wire.client_errors import ServiceError
from holdfast.wire.encoding import from_base64url
from holdfast.wire.retries import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.chain.account_calls import SignedChanges
    from holdfast.client.account.methods import AccountMethods
    from holdfast.client.vault.async_vault import AsyncVault


class Ownership(NamedTuple):
    """Whether the new passkey, and the previous service's, own the account after the move.

    `missing_on`: the names of other chains of the previous service that do not have the change yet.
    """

    is_owner: bool = False
    former_is_owner: bool = False
    missing_on: tuple[str, ...] = ()


async def signer_of(vault: AsyncVault, credential_id: str) -> bytes | None:
    """Return the signer of a passkey in the vault; None for one whose signatures accounts do not verify."""
    rows = (await vault.exec("resource:credentials action:list")).result or []
    keys = [row["public_key"] for row in rows if row["credential_id"] == credential_id and row.get("public_key")]
    return passkey_signer(from_base64url(keys[0])) if keys else None


class Passkeys(NamedTuple):
    """The passkeys of a move as signers: the new one, the previous service's, and those of given-up attempts."""

    new: bytes | None
    former: bytes | None
    stale: Sequence[bytes]


class OwnerChange:
    """The owner change of a move, brought to the main chain through the new service.

    What the chain says is read and signed through the previous service, if that one knows the chain: the new one could
    name a later sequence for the change, or say that the new passkey owns the account when it does not. The previous
    service also brings the change to its other chains: the new one could name chains on which the person has money, for
    the sake of the fees.

    Args:
        account: the new service's client.
        before: the previous service's.
        end_former: asks whether the previous service's passkey, an owner, should end with the same change.
    """

    def __init__(
        self, account: AccountMethods, before: AccountMethods, end_former: Callable[[], object] | None = None
    ) -> None:
        self._account, self._before, self._end_former = account, before, end_former

    async def make(self, passkeys: Passkeys) -> Ownership:
        """Make the new passkey an owner, and end those of given-up attempts. A repeated call has no effect.

        Without an endpoint of the chain, nothing is changed. Raises SecondKeyMissing, and MoveRefused `not_owner` if
        the chain cannot be read, or another device changed the account, or it does not take the change.
        """
        try:
            return await self._made(passkeys)
        except SecondKeyMissing:
            raise
        except ServiceError as error:
            raise MoveRefused("not_owner", f"the new passkey does not own the account yet: {error}") from error

    async def _made(self, passkeys: Passkeys) -> Ownership:
        new, former, stale = passkeys
        if not (new or stale) or not await self._account.knows_chain():
            return Ownership()
        source = self._before if await self._before.knows_chain() else self._account
        others = [chain for chain in await served_chains(self._before) if chain.payments and not chain.main]
        adds, owners, signed = [new] if new else [], await _owners(source), []
        ends = [signer for signer in stale if signer in owners]
        if new and former in owners and self._end_former and await answered(self._end_former):
            ends.append(former)
        if ends or not owners.issuperset(adds):
            # An owner is added once more, so that an endpoint that lies about it cannot have the former one end alone.
            changes = [Change(ChangeKind.ADD_OWNER, signer) for signer in adds]
            changes += [Change(ChangeKind.REMOVE_OWNER, signer) for signer in ends]
            signed = [await source.sign_account_changes(changes)]
            await self._account.bring_account_changes(signed)
            owners = await _changed(source, adds, ends)
        missing_on = [chain.name for chain in others if not await self._brought(signed, chain.chain_id)]
        return Ownership(new in owners, former in owners, tuple(missing_on))

    async def _brought(self, signed: list[SignedChanges], chain_id: int) -> bool:
        """Bring the change to another chain. Return whether it took it."""
        try:
            changes = [*signed, *await self._before.account_history()]
            origin = await self._before.account_origin()
            if changes:
                await self._before.bring_account_changes(changes, origin=origin, chain_id=chain_id)
        except ServiceError:
            return False
        return True


async def _owners(account: AccountMethods) -> set[bytes]:
    owners, now = (await account.account_view()).owners, time.time()
    return {owner.signer for owner in owners if owner.signs_at(now)}


async def _changed(account: AccountMethods, adds: list[bytes], ends: list[bytes]) -> set[bytes]:
    """Return the owners once they show the change. One node of a chain may be some blocks behind another.

    Raises OperationFailed if they do not.
    """
    for _ in range(OPERATIONS.owner_looks):
        owners = await _owners(account)
        if owners.issuperset(adds) and not owners.intersection(ends):
            return owners
        await asyncio.sleep(OPERATIONS.state_age_s)
    raise OperationFailed("the account does not show the change, or another device has changed the owners meanwhile")

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


async def owned(
    new: AccountMethods, old: AccountMethods, end_former: Callable[[], object] | None, passkeys: Passkeys
) -> Ownership:
    """Make the new passkey an owner, and end those of given-up attempts. A repeated call has no effect.

    Without an endpoint of the chain, nothing is changed. Raises SecondKeyMissing, and MoveRefused `not_owner` if the
    chain cannot be read, or another device changed the account, or it does not take the change.

    Args:
        new: the new service's client, which brings the change to the main chain.
        old: the previous service's, through which the chain is read and the change is signed, if it knows the chain:
            the new one could name a later sequence for the change, or say that the new passkey owns the account when it
            does not. It also brings the change to its other chains: the new one could name chains on which the person
            has money, for the sake of the fees.
        end_former: asks whether the previous service's passkey, an owner, should end with the same change.
        passkeys: those of the move.
    """
    try:
        return await _made(new, old, end_former, passkeys)
    except SecondKeyMissing:
        raise
    except ServiceError as error:
        raise MoveRefused("not_owner", f"the new passkey does not own the account yet: {error}") from error


async def _made(
    new: AccountMethods, old: AccountMethods, end_former: Callable[[], object] | None, passkeys: Passkeys
) -> Ownership:
    added, former, stale = passkeys
    if not (added or stale) or not await new.knows_chain():
        return Ownership()
    source = old if await old.knows_chain() else new
    others = [chain for chain in await served_chains(old) if chain.payments and not chain.main]
    adds, owners, signed = [added] if added else [], await _owners(source), []
    ends = [signer for signer in stale if signer in owners]
    if added and former in owners and await answered(end_former):
        ends.append(former)
    if ends or not owners.issuperset(adds):
        # An owner is added once more, so that an endpoint that lies about it cannot have the former one end alone.
        changes = [Change(ChangeKind.ADD_OWNER, signer) for signer in adds]
        changes += [Change(ChangeKind.REMOVE_OWNER, signer) for signer in ends]
        signed = [await source.sign_account_changes(changes)]
        await new.bring_account_changes(signed)
        owners = await _changed(source, adds, ends)
    missing_on = [chain.name for chain in others if not await _brought(old, signed, chain.chain_id)]
    return Ownership(added in owners, former in owners, tuple(missing_on))


async def _brought(old: AccountMethods, signed: list[SignedChanges], chain_id: int) -> bool:
    """Bring the change to another chain. Return whether it took it."""
    try:
        changes = [*signed, *await old.account_history()]
        origin = await old.account_origin()
        if changes:
            await old.bring_account_changes(changes, origin=origin, chain_id=chain_id)
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

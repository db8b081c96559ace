"""Makes the new passkey an owner of the account, by one change that the vault's key signs for every chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.signers import passkey_signer
from holdfast.client.callbacks import answered
from holdfast.client.flows.failures import OperationFailed
from holdfast.client.flows.second_key import SecondKeyMissing
from holdfast.client.moving.values import MoveRefused
from holdfast.wire.client_errors import ServiceError
from holdfast.wire.encoding import from_base64url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from holdfast.client.account.methods import AccountMethods
    from holdfast.client.vault.async_vault import AsyncVault


class Ownership(NamedTuple):
    """Whether the new passkey, and the previous service's, own the account after the move."""

    is_owner: bool = False
    former_is_owner: bool = False


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
    """The owner change of a move, brought to the chain through the new service.

    Args:
        account: the new service's client.
        before: the previous service's. Its endpoint says which place the change has among the account's changes: the
            new one could name a later place, and bring the change after the person has removed the passkey.
        end_former: asks whether the previous service's passkey, an owner, should end with the same change.
    """

    def __init__(
        self, account: AccountMethods, before: AccountMethods, end_former: Callable[[], Any] | None = None
    ) -> None:
        self._account, self._before, self._end_former = account, before, end_former

    async def make(self, passkeys: Passkeys) -> Ownership:
        """Make the new passkey an owner, and end those of given-up attempts.

        A repeated call has no effect. Without an endpoint of the chain, nothing is changed.

        Raises:
            MoveRefused: `not_owner`: the account does not take the change, or another device changed it meanwhile, or
                the chain cannot be read.
            SecondKeyMissing: two owners must sign.
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
        adds, owners = [new] if new else [], await self._owners()
        ends = [signer for signer in stale if signer in owners]
        if new and former in owners and await self._confirmed():
            ends.append(former)
        if ends or not owners.issuperset(adds):
            # An owner is added once more, so that an endpoint that lies about it cannot have the former one end alone.
            changes = [Change(ChangeKind.ADD_OWNER, signer) for signer in adds]
            changes += [Change(ChangeKind.REMOVE_OWNER, signer) for signer in ends]
            sequence = await self._sequence()
            await self._account.bring_account_changes(
                [await self._account.sign_account_changes(changes, sequence=sequence)]
            )
            owners = await self._owners()
        if not owners.issuperset(adds) or owners.intersection(ends):
            raise OperationFailed("another device has changed the owners meanwhile")
        return Ownership(new in owners, former in owners)

    async def _sequence(self) -> int | None:
        """Return the change's place, None if only the new service knows the chain."""
        if not await self._before.knows_chain():
            return None
        return (await self._before.account_view()).settings.sequence

    async def _owners(self) -> set[bytes]:
        return {owner.signer for owner in (await self._account.account_view()).owners}

    async def _confirmed(self) -> bool:
        return self._end_former is not None and bool(await answered(self._end_former))

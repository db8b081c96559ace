"""The client's methods for owners, guardians, recovery and permissions of an account (docs/contracts.md)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from holdfast.chain import account_calls, account_reads
from holdfast.chain.account_calls import SignedChanges
from holdfast.chain.account_candidates import accepted
from holdfast.chain.account_messages import (
    Change,
    ChangeKind,
    cancellation_digest,
    changes_digest,
    recovery_digest,
)
from holdfast.chain.service_guardian import CHANGES_GUARDIANS, ServiceAlone, gives_service_alone
from holdfast.chain.signers import by_name, kind_of, named, of_changes, signatures_in
from holdfast.chain.two_keys import way_of
from holdfast.client.account.reading import view_of
from holdfast.client.account.values import Brought
from holdfast.client.callbacks import answered
from holdfast.client.endpoint_methods import EndpointMethods
from holdfast.client.flows.accounts import account_address
from holdfast.client.flows.failures import OperationFailed, chain_errors
from holdfast.client.flows.second_key import SecondKeyMissing
from holdfast.client.http.refusals import RequestRefused
from holdfast.wire.client_errors import PluginCallError
from holdfast.wire.encoding import from_hex, to_hex

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Sequence

    from holdfast.chain.account_calls import Permission
    from holdfast.chain.account_reads import Created, Granted
    from holdfast.chain.account_signatures import Message
    from holdfast.chain.bundler import OperationReceipt
    from holdfast.chain.calls import Call
    from holdfast.chain.rpc import RpcClient
    from holdfast.chain.user_operations import UserOperation
    from holdfast.client.account.values import AccountView
    from holdfast.client.flows.operations import SmartAccount
    from holdfast.client.flows.second_key import SecondKey
    from holdfast.client.vault.async_vault import AsyncVault


class AccountMethods(EndpointMethods):
    """Methods that concern the client's account: its `account`, or else the first account of the vault's key.

    A change that is signed once for every chain is sent to a chain by the first account of the vault's own key, which
    need not own the account that changes.
    """

    _operating: asyncio.Lock
    _second: SecondKey | None
    _named_guardians: tuple[bytes, ...] = ()

    @property
    def vault(self) -> AsyncVault:
        """The vault."""
        raise NotImplementedError

    def _account(self, *, own: bool = False) -> SmartAccount:
        """Return the client's account or, with `own`, the first account of the vault's key."""
        raise NotImplementedError

    async def knows_chain(self) -> bool:
        """Return whether an endpoint of the chain is known, without which owners can be neither read nor changed."""
        return await (await self._opened()).chain() is not None

    async def account_view(self, *, chain_id: int | None = None) -> AccountView:
        """Return the account's owners, guardians, terms and running recovery, as its chain says.

        Args:
            chain_id: a chain of `chains` with `payments`; by default the main chain.

        Raises:
            NetworkError: no chain endpoint is known, or it does not answer for the chain's whole history.
        """
        account, chain = await self._chain(chain_id)
        contracts, own = account.contracts, self._is_own(account)
        with chain_errors():
            return await view_of(chain, contracts.chain_id, contracts.app_factory, account.key, own=own)

    async def sign_account_changes(
        self,
        changes: Sequence[Change],
        *,
        sequence: int | None = None,
        cosigned: SignedChanges | None = None,
        owner: SecondKey | None = None,
        service_alone: bool = False,
    ) -> SignedChanges:
        """Sign changes of the account's owners or guardians with the vault's key, once for every chain.

        If the changes remove the primary key and name no other one, the oldest remaining P-256 owner becomes primary.

        Args:
            changes: the changes in their order.
            sequence: their place; by default the next one on this chain.
            cosigned: the same changes with another owner's signature, where two owners must sign. The client's
                `second_key` signs without it.
            owner: signs in the vault's place, if that is not an owner yet: a passkey that is (`passkey_among`).
            service_alone: the person has agreed that the service alone can give the account new owners after these
                changes. Whoever then controls the service, or an address of the person's and the waiting time, can.

        Raises:
            ValueError: `cosigned` has other changes, or was signed where one signature suffices.
            ServiceAlone: after these changes the service alone suffices, and `service_alone` is not set.
            SecondKeyMissing: two owners must sign, and the client's `second_key` is not one of them.
            NetworkError: the chain cannot be read.
        """
        view = await self.account_view()
        made = tuple(changes) if cosigned else _with_primary(view, changes)
        if not service_alone and await self._gives_service_alone(view, made):
            raise ServiceAlone
        number = view.settings.sequence if sequence is None else sequence
        if cosigned is not None and (cosigned.account, cosigned.sequence, cosigned.changes) != (
            view.address,
            number,
            made,
        ):
            raise ValueError("the other owner signed different changes")
        message = {"message": "changes", "sequence": number, "changes": [change.to_json() for change in made]}
        digest = changes_digest(view.address, number, made)
        own = owner.signer if owner else (await self._opened()).key.signer
        second = None if cosigned else await self._second_of(view, own)
        signed = (own, await answered(owner.sign, digest)) if owner else None
        signature = signed or await self._signature(view.address, message, digest)
        # How many must sign a later change may depend on earlier changes, which this chain does not have yet.
        suffices = view.settings.threshold == 1 and number == view.settings.sequence
        is_primary = any(owner.is_primary and owner.signer == signature[0] for owner in view.owners)
        alone = of_changes(*signature, suffices=suffices, is_primary=is_primary)
        others = signatures_in(cosigned.signature) if cosigned else []
        if second is not None:
            others = [(second.signer, await answered(second.sign, digest))]
        whole = named([*others, signature]) if others else alone
        return SignedChanges(view.address, number, made, whole)

    async def account_history(self) -> list[SignedChanges]:
        """Return the signed changes that this chain has, from the first, to bring them to other chains.

        Anyone can write forged changes into the chain's transactions. They are then returned too, next to the owners'
        with the same sequence, and `bring_account_changes` takes those that its chain accepts.
        """
        account, chain = await self._chain()
        with chain_errors():
            if not await chain.get_code(account.key.address):
                return []
            return await account_reads.history_of(chain, account.key.address)

    async def account_origin(self) -> Created | None:
        """Return the key and the salt that the account was created for, or None before it exists on this chain."""
        account, chain = await self._chain()
        with chain_errors():
            return await account_reads.created_of(chain, account.contracts.app_factory, account.key.address)

    async def bring_account_changes(
        self,
        signed: Sequence[SignedChanges],
        *,
        origin: Created | None = None,
        chain_id: int | None = None,
        on_progress: Callable[[str], object] | None = None,
    ) -> Brought:
        """Bring signed changes to a chain of this service, and wait until they are mined.

        Changes that the chain has already are left out. Of several with the same sequence the chain decides.

        Args:
            signed: the changes, in any order.
            origin: what the account was created for, as `account_origin` says on a chain where it exists. With it, an
                account of another key is created here with the changes, if they begin with the first.
            chain_id: a chain of `chains` with `payments`; by default the main chain.
            on_progress: called with a word for each step.

        Raises:
            ValueError: there are no changes, they are another account's, or the service does not pay on the chain.
            OperationFailed: the chain lacks earlier changes than these, or refused them.
        """
        own = await self._opened(chain_id, own=True)
        address = (await self._opened()).key.address
        if not signed or any(each.account != address for each in signed):
            raise ValueError("pass changes of this client's account")
        present = await self._present(own, address, origin)
        given = sorted((each for each in signed if each.sequence >= present), key=lambda each: each.sequence)
        numbers = sorted({each.sequence for each in given})
        if numbers != list(range(present, present + len(numbers))):
            raise OperationFailed(f"this chain lacks the account's changes before {numbers[0]}: bring them first")
        exists = await self._exists(own, address)
        together = _together(own, address, origin, exists=exists)
        with chain_errors():
            left = await accepted(await own.known_chain(), given, together)
        calls = [account_calls.apply_changes(each) for each in left]
        if left and not exists and address != own.key.address:
            calls = [together(left)]
        last = None
        for call in calls:
            last = await self._operated(own, call, on_progress)
        return Brought(own.contracts.chain_id, len(left), last)

    async def sign_account_recovery(self, new_owners: Sequence[bytes]) -> tuple[bytes, bytes]:
        """Sign, as a guardian, the recovery that names new owners; return signer and signature for `start…`."""
        address, nonce = await self._recovery_nonce()
        owners = [to_hex(signer) for signer in new_owners]
        message = {"message": "recovery", "nonce": nonce, "new_owners": owners}
        return await self._signature(address, message, recovery_digest(address, nonce, new_owners))

    async def start_account_recovery(
        self,
        new_owners: Sequence[bytes],
        signatures: Sequence[tuple[bytes, bytes]] = (),
        *,
        on_progress: Callable[[str], object] | None = None,
    ) -> str:
        """Start a recovery with the signatures of guardians, by default the vault's own; return the operation's hash.

        Any owner can cancel it until its delay is over. It replaces one that fewer guardians signed.

        Raises OperationFailed if one is under way that as many guardians signed, or more.
        """
        given = list(signatures) or [await self.sign_account_recovery(new_owners)]
        account, chain = await self._chain()
        with chain_errors():
            supporters = await account_reads.supporters_of(chain, account.key.address)
        if supporters >= len(given):
            raise OperationFailed(
                f"a recovery that {supporters} guardian(s) signed is under way: only more guardians replace it"
            )
        return await self._relayed(
            lambda address: account_calls.start_recovery(address, new_owners, named(given)), on_progress
        )

    async def ask_service_recovery(self, new_owners: Sequence[bytes], identifier: str, channel: str = "email") -> str:
        """Ask the service to sign a recovery of the account as its guardian; return the request's number.

        It sends a code to `identifier`, which must be registered for the account's DID.
        """
        address = (await self._opened()).key.address
        owners = [to_hex(signer) for signer in new_owners]
        recovery = await self.ask_recovery(account=address, channel=channel, identifier=identifier, new_owners=owners)
        return recovery.request

    async def service_recovery_signature(self, new_owners: Sequence[bytes]) -> tuple[bytes, bytes]:
        """Return the service's signer and signature for `start_account_recovery`.

        Raises RequestRefused: `recovery_waits` before its waiting time is over, `recovery_not_found` without a code.
        """
        address = (await self._opened()).key.address
        signed = await self.sign_recovery(account=address, new_owners=[to_hex(signer) for signer in new_owners])
        return from_hex(signed.signer), from_hex(signed.signature)

    async def cancel_account_recovery(
        self, *, chain_id: int | None = None, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Cancel the recovery that is under way on a chain of `chains`, as an owner; return the operation's hash.

        What the guardians signed counts on every chain: anyone who has it can start the recovery on another one.
        """
        address, nonce = await self._recovery_nonce(chain_id)
        message = {"message": "cancellation", "nonce": nonce}
        signed = await self._signature(address, message, cancellation_digest(address, nonce))
        call = account_calls.cancel_recovery(address, by_name(*signed))
        return await self._operated(await self._opened(chain_id, own=True), call, on_progress)

    async def finish_account_recovery(self, *, on_progress: Callable[[str], object] | None = None) -> str:
        """Finish the recovery that is under way, after its delay; return the operation's hash. Anyone may.

        Raises OperationFailed if none is under way, or the endpoint hides its new owners.
        """
        recovery = (await self.account_view()).recovery
        if recovery is None:
            raise OperationFailed("no recovery of this account is under way")
        if recovery.new_owners is None:
            raise OperationFailed(
                "a recovery of this account is under way, but the endpoint does not show its new owners"
            )
        owners = recovery.new_owners
        return await self._relayed(lambda at: account_calls.finish_recovery(at, owners), on_progress)

    async def account_permissions(self) -> list[Granted]:
        """Return what keys may spend from the account, with what they have spent."""
        account, chain = await self._chain()
        with chain_errors():
            if not await chain.get_code(account.key.address):
                return []
            return await account_reads.permissions_of(chain, account.key.address)

    async def grant_account_permission(
        self, permission: Permission, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Let a key spend from the account on this chain, within limits; return the operation's hash."""
        account = await self._opened()
        call = account_calls.grant_permission(account.key.address, permission)
        return await self._operated(account, call, on_progress)

    async def revoke_account_permission(
        self, permission_id: bytes, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Revoke a permission on this chain; return the operation's hash."""
        account = await self._opened()
        call = account_calls.revoke_permission(account.key.address, permission_id)
        return await self._operated(account, call, on_progress)

    async def account_signature(self, message: Message) -> bytes:
        """Return the account's signature of a `Text` or `TypedData` (`holdfast.chain.account_signatures`).

        Verifiers of ERC-1271 accept the signature on the service's chain. Before the account exists there, the
        signature contains the call that creates it (ERC-6492).

        Raises:
            OperationFailed: two owners must sign, or the vault's key is not an owner of the account.
        """
        return await (await self._opened()).signed_message(message)

    async def _opened(self, chain_id: int | None = None, *, own: bool = False) -> SmartAccount:
        account = self._account(own=own)
        await account.open()
        if chain_id is not None:
            account.move(await account.other_chain(chain_id))
        return account

    async def _chain(self, chain_id: int | None = None) -> tuple[SmartAccount, RpcClient]:
        account = await self._opened(chain_id)
        return account, await account.known_chain()

    def _is_own(self, account: SmartAccount) -> bool:
        return account.key.address == account_address(account.contracts, account.key.x, account.key.y)

    async def _recovery_nonce(self, chain_id: int | None = None) -> tuple[str, int]:
        account, chain = await self._chain(chain_id)
        with chain_errors():
            return account.key.address, (await account_reads.settings_of(chain, account.key.address)).recovery_nonce

    async def _gives_service_alone(self, view: AccountView, changes: Sequence[Change]) -> bool:
        """Ask the service for its keys, and the chain which of them are guardians: it may hide events, not state."""
        if not any(change.kind in CHANGES_GUARDIANS for change in changes):
            return False
        keys = await self.service_guardian_keys()
        present: list[bytes] = []
        if view.deployed:
            _, chain = await self._chain()
            with chain_errors():
                states = [await account_reads.owner_state(chain, view.address, key) for key in keys]
            present = [key for key, (_, _, is_guardian) in zip(keys, states, strict=True) if is_guardian]
        return gives_service_alone(keys, present, view.settings.quorum, changes)

    async def service_guardian_keys(self) -> list[bytes]:
        """Return the service's keys as a guardian, the one that it offers first; an empty list if it has none.

        Keys that it named before stay in the list, so that it cannot offer one and deny it when changes are signed.
        """
        try:
            terms = await self.recovery_terms()
        except RequestRefused as refused:
            if refused.status != 404:  # noqa: PLR2004 - a service before this endpoint
                raise
            return list(self._named_guardians)
        named = (from_hex(key) for key in terms.guardians)
        self._named_guardians = tuple(dict.fromkeys((*named, *self._named_guardians)))
        return list(self._named_guardians)

    async def _second_of(self, view: AccountView, own: bytes) -> SecondKey | None:
        """Return the second key if it signs changes of the account too. Raises SecondKeyMissing."""
        if self._second is None:
            return None
        way = way_of(view.settings.threshold, own, self._second.signer, view.owners, time.time())
        if way.kind == "missing":
            raise SecondKeyMissing(view.address, way.keys)
        return self._second if way.kind == "two" else None

    async def _signature(self, address: str, message: dict[str, object], digest: bytes) -> tuple[bytes, bytes]:
        signed = await self.vault.sign_account_message({"account": address, **message})
        if from_hex(signed.digest) != digest:
            raise PluginCallError("sign_account_message", "the enclave signed another message")
        return from_hex(signed.signer), from_hex(signed.signature)

    async def _present(self, own: SmartAccount, address: str, origin: Created | None) -> int:
        """Return how many signed changes the chain has. Raises OperationFailed if the account cannot be deployed."""
        if await self._exists(own, address):
            with chain_errors():
                return (await account_reads.settings_of(await own.known_chain(), address)).sequence
        if address == own.key.address:
            return 0
        if origin is None or account_address(own.contracts, origin.x, origin.y, origin.salt) != address:
            raise OperationFailed(f"the account {address} does not exist on this chain yet")
        return 0

    async def _exists(self, own: SmartAccount, address: str) -> bool:
        with chain_errors():
            return bool(await (await own.known_chain()).get_code(address))

    async def _relayed(self, call: Callable[[str], Call], on_progress: Callable[[str], object] | None) -> str:
        own = await self._opened(own=True)
        return await self._operated(own, call((await self._opened()).key.address), on_progress)

    async def _operated(self, account: SmartAccount, call: Call, on_progress: Callable[[str], object] | None) -> str:
        async with self._operating:
            return to_hex((await self._mined(account, account.prepared(call), on_progress)).operation_hash)

    async def _mined(
        self, account: SmartAccount, prepared: Awaitable[UserOperation], on_progress: Callable[[str], object] | None
    ) -> OperationReceipt:
        operation = await prepared
        await answered(on_progress, "prepared")
        signed = await account.signed(operation)
        operation_hash = await account.send(signed)
        await answered(on_progress, "sent")
        receipt = await account.wait(operation_hash)
        await answered(on_progress, "confirmed")
        return receipt


def _together(
    own: SmartAccount, address: str, origin: Created | None, *, exists: bool
) -> Callable[[Sequence[SignedChanges]], Call]:
    """Return the function from changes to the call that brings them all, and creates the account before it exists."""
    if exists:
        return lambda history: account_calls.apply_together(address, history)
    x, y, salt = (origin.x, origin.y, origin.salt) if origin else (own.key.x, own.key.y, 0)
    return lambda history: account_calls.create_account_with(own.contracts.app_factory, (x, y), salt, history)


def _with_primary(view: AccountView, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return the changes, with a new primary key if they remove the present one and another P-256 key remains."""
    removed = {change.signer for change in changes if change.kind is ChangeKind.REMOVE_OWNER}
    primary = {owner.signer for owner in view.owners if owner.is_primary}
    if not primary & removed or any(change.kind is ChangeKind.SET_PRIMARY for change in changes):
        return tuple(changes)
    lasting = [owner.signer for owner in view.owners if owner.expiry == 0]
    lasting += [change.signer for change in changes if change.kind is ChangeKind.ADD_OWNER and not change.value]
    heirs = [signer for signer in lasting if kind_of(signer) == "p256" and signer not in removed]
    return (*changes, Change(ChangeKind.SET_PRIMARY, heirs[0])) if heirs else tuple(changes)

"""`holdfast.AsyncClient`: one service and, if given, one vault. `holdfast.Client` is generated from it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from holdfast.client.account.did import DidMethods
from holdfast.client.account.spender import Spender
from holdfast.client.account.spending_methods import SpendingMethods
from holdfast.client.async_service_client import AsyncServiceClient
from holdfast.client.flows.chains import money_of
from holdfast.client.flows.gas import GasPolicy
from holdfast.client.flows.operations import SmartAccount
from holdfast.client.flows.payee import payee_of
from holdfast.client.flows.payment import Payments
from holdfast.client.flows.receipts import receipt_of
from holdfast.client.flows.registration import Registrar
from holdfast.client.flows.signed_operations import SignedOperations
from holdfast.client.http.chain_transport import ChainTransport
from holdfast.client.http.transport import DEFAULT_TIMEOUT
from holdfast.client.moving.move import Move
from holdfast.client.moving.owner import owned
from holdfast.client.moving.target import address_of
from holdfast.client.person import PersonMethods
from holdfast.client.snapshots.keeping import VaultSnapshots
from holdfast.client.snapshots.payment_notes import settled_note
from holdfast.client.snapshots.shared_notes import noted_payments
from holdfast.client.storage.notes import MemoryNotes
from holdfast.client.types import SnapshotConfig
from holdfast.client.types.service import ForeignContracts
from holdfast.client.vault.module import module_file
from holdfast.wire.client_errors import ClientStateError, NetworkError, StorageError
from holdfast.wire.defaults import SERVICE_URL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import httpx2

    from holdfast.client.account.spending import Spending
    from holdfast.client.flows.receipts import UserOperationReceipt
    from holdfast.client.flows.registration import Registration
    from holdfast.client.flows.second_key import SecondKey
    from holdfast.client.http.calls import Retries
    from holdfast.client.moving.values import Moved, NewPasskeys
    from holdfast.client.snapshots.payment_notes import PaymentNote
    from holdfast.client.snapshots.recovery import Recovered
    from holdfast.client.snapshots.state import SnapshotState
    from holdfast.client.snapshots.versions import TableDifference
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.types import DidRecord, PaymentParams, PaymentResult, VaultSnapshotConfig
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.client.vault.keys import KeyProvider, RecoveryPasskey


class AsyncClient(AsyncServiceClient, DidMethods, SpendingMethods, PersonMethods):
    """A client for one service, with an optional vault on this machine.

    Takes the arguments of AsyncServiceClient, and these:

    Args:
        vault: the vault whose key registers and pays; it must be unlocked when it does.
        gas: who pays for gas and where its price is read; by default the service's sponsor, or else the account.
        foreign_contracts: whether the service may use another account factory than this release's. The code of a
            factory decides which key its accounts obey, so set this only for a service that you run.
        account: the smart account to pay from and to manage, if it is not the first account of the vault's key: one
            that another key created, and of which the vault's key is an owner or a guardian.
        second_key: another owner's key, which signs too where two owners must.
        snapshots: where the vault's snapshots are stored and read; by default what the vault was created with.
        on_snapshot: called at each step of an upload: queued, pinning, pinned, failed (with the reason), conflict.

    If the vault has a store, every change is uploaded automatically a few seconds later (`SnapshotConfig.automatic`).
    """

    def __init__(  # noqa: PLR0913 - each but the first by keyword
        self,
        base_url: str = SERVICE_URL,
        *,
        vault: AsyncVault | None = None,
        gas: GasPolicy | None = None,
        foreign_contracts: bool = False,
        account: str | None = None,
        second_key: SecondKey | None = None,
        snapshots: VaultSnapshotConfig | None = None,
        on_snapshot: Callable[[SnapshotState], object] | None = None,
        timeout: float | httpx2.Timeout = DEFAULT_TIMEOUT,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(base_url, timeout=timeout, retries=retries, transport=transport, headers=headers)
        self._vault = vault
        self._made: dict[str, Any] = {"timeout": timeout, "retries": retries, "transport": transport}
        self._gas = gas or GasPolicy()
        self._memory = MemoryNotes()
        self._foreign_contracts, self._address, self._second = foreign_contracts, account, second_key
        # Only one user operation is in progress at a time, because an account's nonces are consecutive.
        self._operating = asyncio.Lock()
        given = snapshots or (vault.snapshot_config if vault else None)
        self._snapshots = VaultSnapshots(self, vault, given, on_snapshot, retries=retries, transport=transport)
        self._audience = self._snapshots.audience

    @property
    def vault(self) -> AsyncVault:
        """The vault. Raises ClientStateError if the client has none."""
        if self._vault is None:
            raise ClientStateError("the client has no vault: pass `vault` when you make it")
        return self._vault

    @property
    def second_key(self) -> SecondKey | None:
        """Another owner's key, which signs too where two owners must."""
        return self._second

    async def enclave_module(self, sha256: str | None = None) -> Path:
        """Return the path of the service's enclave module, which is cached on disk once its hash has been checked.

        `sha256` is the expected hash in hex, by default that of the module that belongs to this release. Raises
        WasmLoadError for a module with another hash.
        """
        module = await self.enclave_wasm()
        return await asyncio.to_thread(module_file, sha256 or expected_module(), lambda: module)

    async def register(
        self,
        *,
        handle: str | None = None,
        email: str | None = None,
        sms: str | None = None,
        code: Callable[[str], object] | None = None,
        on_progress: Callable[[str], object] | None = None,
    ) -> Registration:
        """Register the vault's DID under one identifier with the service, and on the service's chain if it has one.

        After an interruption, a second call continues with the first missing step and does not repeat any completed
        step.

        Args:
            handle: a chosen name, or
            email: an address, or
            sms: a phone number in E.164 form. Exactly one of the three.
            code: called with a sentence once a code was sent; returns the code, or "" or None to give up.
            on_progress: called with a sentence for each step.

        Raises:
            RequestRefused: the service refused (IdentifierTaken, IdentifierReserved, ...).
            RegistrationRefused: no correct code was given, the passkey or DID is registered for something else, or the
                service requires an on-chain registration and has no bundler.
            OperationFailed: the registration failed on the chain.
        """
        identifier, channel = chosen_identifier(handle, email, sms)
        async with self._operating:
            made = await self._registrar().register(identifier, channel, code, on_progress)
        self._snapshots.changed()  # from now on the service accepts this vault's snapshots
        return made

    async def pay(
        self,
        params: PaymentParams,
        *,
        called: str | None = None,
        on_progress: Callable[[str], object] | None = None,
    ) -> PaymentResult:
        """Pay from the vault's smart account, and wait until the payment is mined.

        `params.chain_id` is any chain of `chains` with `payments`; the account has the same address on each.
        If `params.ucan` is set, its delegations must allow `/accounts/pay` with {to, amount, token, chainId, total}.
        The enclave checks this before anything is signed. `total` includes what was spent under the delegation before.
        The payment is noted for `payments`, with `params.label` and with `called`, the payee as the person knows it.

        Raises:
            ValueError: the parameters cannot be a payment, or the service has no bundler for their chain.
            PaymentRefused: the delegation does not allow it, or the payee's DID is not registered.
            AccountNotFunded: the account has too little for the amount, or for the fee that no sponsor pays.
            OperationFailed: the payment was refused, or was mined and failed.
        """
        async with self._operating:
            return await self._payments().pay(params, on_progress, called)

    async def payments(self) -> list[PaymentNote]:
        """Return what all devices of the vault noted about their payments, oldest first, and give them this device's.

        The vault must be unlocked and registered with the service, which stores the notes sealed.

        Raises:
            RequestRefused, NetworkError, StorageError: the other devices' notes cannot be had, or this device's not be
                stored there.
        """
        await self._settle_notes()
        return await self._snapshots.exchange_notes()

    async def payee_address(self, to: str) -> str:
        """Return the address that `pay` would pay now: `to`, or the account of a DID, which the chain confirms.

        Raises:
            ValueError: `to` is neither an address nor a DID.
            PaymentRefused: the DID has no active account, or the indexer's account is not the DID's.
        """
        account = self._account()
        if to.startswith("did:"):
            await account.open()
        return (await payee_of(self, to, account)).address

    async def money_on(self, chain_id: int) -> str:
        """Return the chain's name, its ID, and whether its money is real, for people to read next to an amount."""
        return await money_of(self, chain_id)

    async def user_operation_receipt(
        self, user_op_hash: str, *, within_s: float = 0.0, chain_id: int | None = None
    ) -> UserOperationReceipt | None:
        """Return the receipt of a user operation, with its transaction, block and cost.

        Args:
            user_op_hash: such as `PaymentResult.user_op_hash`, 0x-hex.
            within_s: seconds to wait for the receipt.
            chain_id: the operation's chain, if it is not the service's main chain.

        Returns:
            The receipt, also of an operation that reverted; None if none exists yet.

        Raises:
            ValueError: `user_op_hash` is not a hash.
            NetworkError: no usable response arrived.
        """
        return await receipt_of(self, ChainTransport(self._http), user_op_hash, within_s, chain_id)

    async def smart_account_address(self) -> str:
        """Return the address of the client's smart account on this service's chain, even before it is deployed."""
        account = self._account()
        await account.open()
        return account.key.address

    async def snapshot_state(self) -> SnapshotState:
        """Return the state of the vault's snapshots. Raises ClientStateError without a vault that has a store."""
        return await self._snapshots.state()

    async def publish_snapshot(self) -> SnapshotState:
        """Publish the newest revision now: upload it, pin it, and point the IPNS record at it.

        The vault must be unlocked.

        Raises:
            SnapshotConflict: another device changed the vault; `compare_snapshots` and `choose_snapshot` resolve it.
            RequestRefused, NetworkError, StorageError: the upload was refused or failed; the message says why.
        """
        return await self._snapshots.publish()

    async def settle_snapshots(self, *, within_s: float = 10.0) -> bool:
        """Upload pending changes now instead of later, and return whether everything was uploaded.

        Waits at most `within_s` seconds.
        """
        return await self._snapshots.settle(within_s)

    async def compare_snapshots(self, key: KeyProvider) -> list[TableDifference]:
        """Return the tables in which this device's version of the vault differs from the conflicting published version.

        Args:
            key: unlocks the other version.
        """
        return await self._snapshots.compare(key)

    async def choose_snapshot(self, version: Literal["here", "there"], key: KeyProvider) -> SnapshotState:
        """Resolve a conflict by continuing with one of the two versions of the vault. The other version stays pinned.

        Args:
            version: `here` publishes this device's version on top of the other one; `there` stores the other one in the
                vault, as a revision after this device's, which stays in the store.
            key: unlocks the other version.
        """
        return await self._snapshots.choose(version, key)

    async def recover(
        self,
        *,
        passkey: RecoveryPasskey | None = None,
        key: KeyProvider | None = None,
        name: str | None = None,
        car: bytes | None = None,
        accept: Callable[[str], object] | None = None,
        on_progress: Callable[[str], object] | None = None,
    ) -> Recovered:
        """Recover a vault on a new device, into the client's vault, which must be empty and have a store.

        A synced passkey is enough: its user handle leads to the newest snapshot, and its PRF output unlocks the vault
        in it. Every block is verified, and so is the vault key's delegation to the publishing key, so gateways need not
        be trusted.

        Args:
            passkey: where the person chooses a passkey, such as an `Authenticator`.
            key: unlocks the vault instead of the passkey's PRF output, such as a password.
            name: the IPNS name, for when no passkey leads to it.
            car: a snapshot's CAR file, used instead of what is published.
            accept: called with a sentence before using a snapshot that is older than one that this device has seen,
                whose record has expired, that may be old because the service did not answer, or that is older than the
                newest one because the key does not unlock that one; True uses it. Without this callback, such a
                snapshot is refused.
            on_progress: called with a sentence at each step.

        Raises:
            RecoveryRefused: nothing is published, the passkey has no PRF, or the key does not unlock the vault.
            SnapshotRolledBack: the snapshot is older than one that this device has seen, and was not accepted.
            StorageError: a block does not match its CID, or the snapshot is not bound to its DID.
            NetworkError: no service or gateway could be reached.
        """
        return await self._snapshots.recover(accept, on_progress, passkey=passkey, key=key, name=name, car=car)

    async def move(
        self,
        url: str,
        passkeys: NewPasskeys,
        *,
        owner: bool = True,
        end_former: Callable[[], object] | None = None,
        code: Callable[[str], object] | None = None,
        headers: Mapping[str, str] | None = None,
        on_progress: Callable[[str], object] | None = None,
    ) -> Moved:
        """Move the person to another service, or to this one under a new host name: name, vault and a new passkey.

        DID, keys and account stay. This client's service gives up the name and the passkey only after the other one was
        checked, the new passkey has signed, the name and the vault's copy were found there, and the new passkey owns
        the account. After an interruption, a second call continues. From then on, use a client of the other service.

        Args:
            url: the other service's address, as the person typed it.
            passkeys: makes the new passkey and uses it, such as an `Authenticator` for `url`.
            owner: whether the new passkey becomes an owner of the account, if a chain is known: by one change that the
                vault's key (and `second_key`, where two owners must) signs for every chain.
            end_former: called once the new passkey has signed, if the present one is an owner; returns whether it ends
                with the same change. Without it, it stays an owner.
            code: as for `register`, if the identifier is not a handle.
            headers: for the other service, such as an invitation.
            on_progress: called with a sentence for each step.

        Raises:
            ValueError: `url` has more than a scheme and a host.
            MoveRefused: a check failed; `code` says which. This service has lost nothing. After `not_owner`, `owner`
                can be False.
            SecondKeyMissing: two owners of the account must sign. This service has lost nothing.
            RequestRefused, RegistrationRefused, WebAuthnError, NetworkError, StorageError: as in each step.
        """
        given = SnapshotConfig(automatic=False)
        more = {**self._made, "foreign_contracts": self._foreign_contracts, "gas": self._gas}
        more |= {"account": self._address, "second_key": self._second}
        url = address_of(url)
        async with AsyncClient(url, vault=self.vault, snapshots=given, headers=headers, **more) as new:
            moving = Move(
                self,
                new,
                self,
                passkeys,
                there=new,
                connect=new._snapshots.connect,
                registrar=new._registrar,
                owner=partial(owned, new, self, end_former) if owner else None,
                code=code,
                on_progress=on_progress,
            )
            return await moving.run()

    async def close(self) -> None:
        """Close the connections. The vault's next client resumes pending uploads. Repeated calls have no effect."""
        await self._snapshots.close()
        await super().close()

    @property
    def _notes(self) -> VaultStore | MemoryNotes:
        return self.vault.store or self._memory

    def _account(self, *, own: bool = False) -> SmartAccount:
        transport, signed = ChainTransport(self._http), SignedOperations(self._notes)
        address = None if own else self._address
        made = SmartAccount(self, self.vault, transport, self._gas, signed, self._foreign_contracts, address)
        made.second = self._second
        return made

    def _spender(self, spending: Spending) -> Spender:
        return self._spender_of(spending.account, spending.permission_id)

    def _spender_of(self, account: str, permission_id: bytes) -> Spender:
        transport, signed = ChainTransport(self._http), SignedOperations(self._notes)
        made = Spender(self, self.vault, transport, self._gas, signed, self._foreign_contracts, account)
        return made.of(permission_id)

    def _registrar(self, passkey: str | None = None, known: DidRecord | None = None) -> Registrar:
        account = self._account(own=True)
        return Registrar(self, self.vault, account, self.vault.store, self._audience, passkey=passkey, known=known)

    def _payments(self) -> Payments:
        spender = self._spender_of if self._second else None
        return Payments(self, self.vault, self._account(), self._notes, self._noted, spender)

    async def _settle_notes(self) -> None:
        """Note the outcome of payments that were sent and not seen mined, as far as the chain knows it."""
        noted = await noted_payments(self.vault)
        sent = {note.hash: note for note in await asyncio.to_thread(noted.all) if note.state == "sent"}
        if not sent:
            return
        account = self._account()
        with suppress(NetworkError, ForeignContracts):
            await account.open()
            outcomes = await account.outcomes(sent)
            settled = [settled_note(sent[name], succeeded=done) for name, done in outcomes.items() if name in sent]
            await asyncio.to_thread(noted.add, settled)

    async def _noted(self, note: PaymentNote) -> None:
        """Note a payment. A payment without a note is still a payment."""
        if self.vault.store is None:
            return
        with suppress(StorageError):
            noted = await noted_payments(self.vault)
            await asyncio.to_thread(noted.add, [note])


def chosen_identifier(handle: str | None, email: str | None, sms: str | None) -> tuple[str, str]:
    """Return identifier and channel. Raises ValueError unless exactly one is given."""
    given = [(value, channel) for value, channel in ((handle, "handle"), (email, "email"), (sms, "sms")) if value]
    if len(given) != 1:
        raise ValueError("exactly one of handle, email and sms")
    return given[0]


def expected_module() -> str:
    """Return the SHA-256 of the enclave module that belongs to this release."""
    from holdfast.enclave.module import bundled_sha256  # imports the WebAssembly runtime

    return bundled_sha256()

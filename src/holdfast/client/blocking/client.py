"""`Client`, the blocking form of `AsyncClient`.

Written by `tools/blocking_client.py` from `holdfast/client/account/methods.py` and `holdfast/client/account/did.py` and `holdfast/client/account/spending_methods.py` and `holdfast/client/person.py` and `holdfast/client/async_client.py`;
not edited by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from holdfast.client.async_client import AsyncClient
from holdfast.client.blocking.loop import existing, run
from holdfast.client.blocking.service_client import ServiceClient
from holdfast.client.http.transport import DEFAULT_TIMEOUT
from holdfast.wire.defaults import SERVICE_URL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import httpx2

    from holdfast.chain.account_calls import Permission, SignedChanges
    from holdfast.chain.account_messages import Change
    from holdfast.chain.account_reads import Created, Granted
    from holdfast.chain.account_signatures import Message
    from holdfast.client.account.did import RegisteredAlias, RegisteredDid
    from holdfast.client.account.spending import Allowed, SpendingTerms
    from holdfast.client.account.values import AccountView, Brought
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.flows.gas import GasPolicy
    from holdfast.client.flows.receipts import UserOperationReceipt
    from holdfast.client.flows.registration import Registration
    from holdfast.client.flows.second_key import SecondKey
    from holdfast.client.http.calls import Retries
    from holdfast.client.moving.values import Moved, NewPasskeys
    from holdfast.client.snapshots.payment_notes import PaymentNote
    from holdfast.client.snapshots.recovery import Recovered
    from holdfast.client.snapshots.state import SnapshotState
    from holdfast.client.snapshots.versions import TableDifference
    from holdfast.client.types import PaymentParams, PaymentResult, VaultSnapshotConfig
    from holdfast.client.types.service import AddressAdded, Attestation, PersonRemoved
    from holdfast.client.vault.keys import KeyProvider, RecoveryPasskey


class Client(ServiceClient):
    """A client for one service, with an optional vault on this machine.

    Takes the arguments of ServiceClient, and these:

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

    Safe to use from several threads, and where an event loop runs. Callbacks run in the calling thread.
    """

    _asynchronous: AsyncClient

    @property
    def vault(self) -> Vault:
        """The vault. Raises ClientStateError if the client has none."""
        return existing(self._vault, self._asynchronous.vault)

    def knows_chain(self) -> bool:
        """Return whether an endpoint of the chain is known, without which owners can be neither read nor changed."""
        return run(self._asynchronous.knows_chain())

    def account_view(self, *, chain_id: int | None = None) -> AccountView:
        """Return the account's owners, guardians, terms and running recovery, as its chain says.

        Args:
            chain_id: a chain of `chains` with `payments`; by default the main chain.

        Raises:
            NetworkError: no chain endpoint is known, or it does not answer for the chain's whole history.
        """
        return run(self._asynchronous.account_view(chain_id=chain_id))

    def sign_account_changes(
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
        return run(
            self._asynchronous.sign_account_changes(
                changes, sequence=sequence, cosigned=cosigned, owner=owner, service_alone=service_alone
            )
        )

    def account_history(self) -> list[SignedChanges]:
        """Return the signed changes that this chain has, from the first, to bring them to other chains.

        Anyone can write forged changes into the chain's transactions. They are then returned too, next to the owners'
        with the same sequence, and `bring_account_changes` takes those that its chain accepts.
        """
        return run(self._asynchronous.account_history())

    def account_origin(self) -> Created | None:
        """Return the key and the salt that the account was created for, or None before it exists on this chain."""
        return run(self._asynchronous.account_origin())

    def bring_account_changes(
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
        return run(
            self._asynchronous.bring_account_changes(signed, origin=origin, chain_id=chain_id, on_progress=on_progress)
        )

    def sign_account_recovery(self, new_owners: Sequence[bytes]) -> tuple[bytes, bytes]:
        """Sign, as a guardian, the recovery that names new owners; return signer and signature for `start…`."""
        return run(self._asynchronous.sign_account_recovery(new_owners))

    def start_account_recovery(
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
        return run(self._asynchronous.start_account_recovery(new_owners, signatures, on_progress=on_progress))

    def ask_service_recovery(self, new_owners: Sequence[bytes], identifier: str, channel: str = "email") -> str:
        """Ask the service to sign a recovery of the account as its guardian; return the request's number.

        It sends a code to `identifier`, which must be registered for the account's DID.
        """
        return run(self._asynchronous.ask_service_recovery(new_owners, identifier, channel))

    def service_recovery_signature(self, new_owners: Sequence[bytes]) -> tuple[bytes, bytes]:
        """Return the service's signer and signature for `start_account_recovery`.

        Raises RequestRefused: `recovery_waits` before its waiting time is over, `recovery_not_found` without a code.
        """
        return run(self._asynchronous.service_recovery_signature(new_owners))

    def cancel_account_recovery(
        self, *, chain_id: int | None = None, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Cancel the recovery that is under way on a chain of `chains`, as an owner; return the operation's hash.

        What the guardians signed counts on every chain: anyone who has it can start the recovery on another one.
        """
        return run(self._asynchronous.cancel_account_recovery(chain_id=chain_id, on_progress=on_progress))

    def finish_account_recovery(self, *, on_progress: Callable[[str], object] | None = None) -> str:
        """Finish the recovery that is under way, after its delay; return the operation's hash. Anyone may.

        Raises OperationFailed if none is under way, or the endpoint hides its new owners.
        """
        return run(self._asynchronous.finish_account_recovery(on_progress=on_progress))

    def account_permissions(self) -> list[Granted]:
        """Return what keys may spend from the account, with what they have spent."""
        return run(self._asynchronous.account_permissions())

    def grant_account_permission(
        self, permission: Permission, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Let a key spend from the account on this chain, within limits; return the operation's hash."""
        return run(self._asynchronous.grant_account_permission(permission, on_progress=on_progress))

    def revoke_account_permission(
        self, permission_id: bytes, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Revoke a permission on this chain; return the operation's hash."""
        return run(self._asynchronous.revoke_account_permission(permission_id, on_progress=on_progress))

    def account_signature(self, message: Message) -> bytes:
        """Return the account's signature of a `Text` or `TypedData` (`holdfast.chain.account_signatures`).

        Verifiers of ERC-1271 accept the signature on the service's chain. Before the account exists there, the
        signature contains the call that creates it (ERC-6492).

        Raises:
            OperationFailed: two owners must sign, or the vault's key is not an owner of the account.
        """
        return run(self._asynchronous.account_signature(message))

    def service_guardian_keys(self) -> list[bytes]:
        """Return the service's keys as a guardian, the one that it offers first; an empty list if it has none.

        Keys that it named before stay in the list, so that it cannot offer one and deny it when changes are signed.
        """
        return run(self._asynchronous.service_guardian_keys())

    def registered_did(self, did: str | None = None) -> RegisteredDid:
        """Return what the registry says about a DID, by default the vault's. Raises NetworkError."""
        return run(self._asynchronous.registered_did(did))

    def registered_alias(self, alias: str) -> RegisteredAlias:
        """Return what the registry says about an alias. Raises NetworkError, and ValueError for an invalid handle."""
        return run(self._asynchronous.registered_alias(alias))

    def set_did_active(
        self, did: str | None = None, *, active: bool, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Deactivate a DID, or activate it again. While it is inactive, nothing else of it can be changed."""
        return run(self._asynchronous.set_did_active(did, active=active, on_progress=on_progress))

    def set_did_metadata(
        self, cid: str, did: str | None = None, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Set the CID of a DID's metadata, of at most 256 bytes; an empty text removes it."""
        return run(self._asynchronous.set_did_metadata(cid, did, on_progress=on_progress))

    def propose_controller(
        self, address: str, did: str | None = None, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Let an account become a DID's controller, once that account accepts it; the zero address takes it back."""
        return run(self._asynchronous.propose_controller(address, did, on_progress=on_progress))

    def accept_controller(self, did: str, *, on_progress: Callable[[str], object] | None = None) -> str:
        """Become the controller of a DID whose controller has proposed this account, which controls no other DID."""
        return run(self._asynchronous.accept_controller(did, on_progress=on_progress))

    def set_alias_active(self, alias: str, *, active: bool, on_progress: Callable[[str], object] | None = None) -> str:
        """Deactivate an alias of a DID that this account controls, or activate it again."""
        return run(self._asynchronous.set_alias_active(alias, active=active, on_progress=on_progress))

    def register_alias(
        self, alias: str, did: str | None = None, *, on_progress: Callable[[str], object] | None = None
    ) -> str:
        """Give a DID one more alias on the chain, in two operations: a commitment, and a block later the claim."""
        return run(self._asynchronous.register_alias(alias, did, on_progress=on_progress))

    def allow_spending(self, terms: SpendingTerms, *, on_progress: Callable[[str], object] | None = None) -> Allowed:
        """Let an app's key spend within a limit that the account enforces, and delegate it to the app's DID.

        The delegation's token, for the app, is returned only once the permission is on the chain. If the permission
        fails to get there, the delegation is revoked.

        Raises:
            ValueError: the app's DID is not a `did:new`, or an address is malformed.
            OperationFailed: the chain refused the permission.
        """
        return run(self._asynchronous.allow_spending(terms, on_progress=on_progress))

    def allow_alone(
        self, terms: Sequence[tuple[str, int, int]], *, on_progress: Callable[[str], object] | None = None
    ) -> None:
        """Let the vault's own key pay alone up to these sums where two owners must sign; earlier sums end.

        Args:
            terms: an ERC-20 address or "native", an amount in its smallest unit, and seconds of a period (0: in all).
            on_progress: called with a word for each step.

        Raises:
            OperationFailed: the chain refused it.
        """
        run(self._asynchronous.allow_alone(terms, on_progress=on_progress))

    def end_spending(self, permission_id: bytes, *, on_progress: Callable[[str], object] | None = None) -> str | None:
        """Revoke a permission on this chain, and first its delegation in this vault.

        Returns the operation's hash; None if the chain has no such permission any more.
        """
        return run(self._asynchronous.end_spending(permission_id, on_progress=on_progress))

    def spend(self, container: str, to: str, amount: int, *, on_progress: Callable[[str], object] | None = None) -> str:
        """Transfer from the account that a delegation names, as the app that holds it; return the operation's hash.

        No device of the person takes part. The service's sponsor must pay for the gas.

        Args:
            container: the delegation to this vault's DID, as `allow_spending` returned it to the person.
            to: the receiver's address.
            amount: in the token's smallest unit.
            on_progress: called with a word for each step.

        Raises:
            ValueError: `to` is not an address, or the amount is negative.
            PaymentRefused: the delegation does not allow it, the account has no such permission, or too little is left.
            OperationFailed: the chain refused it.
        """
        return run(self._asynchronous.spend(container, to, amount, on_progress=on_progress))

    def export_person(self) -> dict[str, object]:
        """Return all rows that the service stores about the vault's DID, by kind."""
        return run(self._asynchronous.export_person())

    def take_back_passkey(self, credential_id: str) -> PersonRemoved:
        """Remove the registration of one passkey, which a look-up then does not find; the vault keeps the passkey.

        Without any registered passkey the DID keeps its identifier, and its snapshots are deleted after 30 days.
        """
        return run(self._asynchronous.take_back_passkey(credential_id))

    def free_identifier(self, identifier: str, channel: str = "handle") -> PersonRemoved:
        """Free a handle, e-mail address or phone number of the DID, which anyone may then register.

        Args:
            identifier: as it was registered.
            channel: "handle", "email" or "sms".
        """
        return run(self._asynchronous.free_identifier(identifier, channel))

    def erase_person(self) -> PersonRemoved:
        """Delete all that the service stores about the vault's DID: registrations, credentials and snapshots.

        The vault on this device, and what is on the chain, stay.
        """
        return run(self._asynchronous.erase_person())

    def add_address(self, attestation: Attestation) -> AddressAdded:
        """Add an e-mail address or phone number to the DID, which then holds it; free_identifier gives it back.

        To change an address, add the new one and free the old one. The DID must be registered.

        Args:
            attestation: what check_code returned for the code that send_code sent there.
        """
        return run(self._asynchronous.add_address(attestation))

    def __init__(
        self,
        base_url: str = SERVICE_URL,
        *,
        vault: Vault | None = None,
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
        self._asynchronous = AsyncClient(
            base_url,
            vault=None if vault is None else vault._asynchronous,
            gas=gas,
            foreign_contracts=foreign_contracts,
            account=account,
            second_key=second_key,
            snapshots=snapshots,
            on_snapshot=on_snapshot,
            timeout=timeout,
            retries=retries,
            transport=transport,
            headers=headers,
        )
        self._vault = vault

    @property
    def second_key(self) -> SecondKey | None:
        """Another owner's key, which signs too where two owners must."""
        return self._asynchronous.second_key

    def enclave_module(self, sha256: str | None = None) -> Path:
        """Return the path of the service's enclave module, which is cached on disk once its hash has been checked.

        `sha256` is the expected hash in hex, by default that of the module that belongs to this release. Raises
        WasmLoadError for a module with another hash.
        """
        return run(self._asynchronous.enclave_module(sha256))

    def register(
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
        return run(self._asynchronous.register(handle=handle, email=email, sms=sms, code=code, on_progress=on_progress))

    def pay(
        self, params: PaymentParams, *, called: str | None = None, on_progress: Callable[[str], object] | None = None
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
        return run(self._asynchronous.pay(params, called=called, on_progress=on_progress))

    def payments(self) -> list[PaymentNote]:
        """Return what all devices of the vault noted about their payments, oldest first, and give them this device's.

        The vault must be unlocked and registered with the service, which stores the notes sealed.

        Raises:
            RequestRefused, NetworkError, StorageError: the other devices' notes cannot be had, or this device's not be
                stored there.
        """
        return run(self._asynchronous.payments())

    def payee_address(self, to: str) -> str:
        """Return the address that `pay` would pay now: `to`, or the account of a DID, which the chain confirms.

        Raises:
            ValueError: `to` is neither an address nor a DID.
            PaymentRefused: the DID has no active account, or the indexer's account is not the DID's.
        """
        return run(self._asynchronous.payee_address(to))

    def money_on(self, chain_id: int) -> str:
        """Return the chain's name, its ID, and whether its money is real, for people to read next to an amount."""
        return run(self._asynchronous.money_on(chain_id))

    def user_operation_receipt(
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
        return run(self._asynchronous.user_operation_receipt(user_op_hash, within_s=within_s, chain_id=chain_id))

    def smart_account_address(self) -> str:
        """Return the address of the client's smart account on this service's chain, even before it is deployed."""
        return run(self._asynchronous.smart_account_address())

    def snapshot_state(self) -> SnapshotState:
        """Return the state of the vault's snapshots. Raises ClientStateError without a vault that has a store."""
        return run(self._asynchronous.snapshot_state())

    def publish_snapshot(self) -> SnapshotState:
        """Publish the newest revision now: upload it, pin it, and point the IPNS record at it.

        The vault must be unlocked.

        Raises:
            SnapshotConflict: another device changed the vault; `compare_snapshots` and `choose_snapshot` resolve it.
            RequestRefused, NetworkError, StorageError: the upload was refused or failed; the message says why.
        """
        return run(self._asynchronous.publish_snapshot())

    def settle_snapshots(self, *, within_s: float = 10.0) -> bool:
        """Upload pending changes now instead of later, and return whether everything was uploaded.

        Waits at most `within_s` seconds.
        """
        return run(self._asynchronous.settle_snapshots(within_s=within_s))

    def compare_snapshots(self, key: KeyProvider) -> list[TableDifference]:
        """Return the tables in which this device's version of the vault differs from the conflicting published version.

        Args:
            key: unlocks the other version.
        """
        return run(self._asynchronous.compare_snapshots(key))

    def choose_snapshot(self, version: Literal["here", "there"], key: KeyProvider) -> SnapshotState:
        """Resolve a conflict by continuing with one of the two versions of the vault. The other version stays pinned.

        Args:
            version: `here` publishes this device's version on top of the other one; `there` stores the other one in the
                vault, as a revision after this device's, which stays in the store.
            key: unlocks the other version.
        """
        return run(self._asynchronous.choose_snapshot(version, key))

    def recover(
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
        return run(
            self._asynchronous.recover(
                passkey=passkey, key=key, name=name, car=car, accept=accept, on_progress=on_progress
            )
        )

    def move(
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
        return run(
            self._asynchronous.move(
                url, passkeys, owner=owner, end_former=end_former, code=code, headers=headers, on_progress=on_progress
            )
        )

    def close(self) -> None:
        """Close the connections. The vault's next client resumes pending uploads. Repeated calls have no effect."""
        run(self._asynchronous.close())

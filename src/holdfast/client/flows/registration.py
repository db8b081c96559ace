"""Registers a vault's DID under an identifier.

Each step is recorded before it is taken, so a second call can continue.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from holdfast.client.callbacks import answered
from holdfast.client.flows.chain_registration import ChainRegistration, ProgressStore
from holdfast.client.flows.failures import RegistrationRefused
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.snapshots.tokens import service_token
from holdfast.client.types import Attestation, DidRecord, Record
from holdfast.wire import errors
from holdfast.wire.client_errors import ClientStateError
from holdfast.wire.commands import REGISTER
from holdfast.wire.encoding import from_iso
from holdfast.wire.requests import NO_TRANSACTION
from holdfast.wire.retries import REGISTRATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.client.async_service_client import AsyncServiceClient
    from holdfast.client.flows.operations import SmartAccount
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.vault.async_vault import AsyncVault

_SERVER_ERROR = 500


class Registration(Record, frozen=True, kw_only=True):
    """A registered identifier."""

    did: str
    identifier: str
    channel: str
    tx_hash: str
    block_number: int | None = None
    smart_account: str | None = None


@dataclass
class Registrar:
    """One registration of one vault.

    Args:
        audience: the service's DID, to which the vault's signature is addressed.
        passkey: the credential ID to register; by default one that is registered, or the vault's newest.
        known: the DID's registration at another service, whose transaction this one states too.
    """

    client: AsyncServiceClient
    vault: AsyncVault
    account: SmartAccount
    store: VaultStore | None
    audience: str
    passkey: str | None = None
    known: DidRecord | None = None

    async def register(
        self,
        identifier: str,
        channel: str,
        ask_code: Callable[[str], object] | None,
        on_progress: Callable[[str], object] | None,
        now: Callable[[], float] = time.time,
    ) -> Registration:
        """See Client.register."""
        self._on_progress, self._now = on_progress, now
        self._did, self._credential_id, known = await self._identity()
        if known is not None:
            identifier, channel = known.identifier, known.channel
        self._notes = ProgressStore(self.store, self._did, identifier, channel)
        if known is not None:
            return await self._again(known)
        self._adopt()
        await self._session()
        if channel != "handle":
            await self._verification(ask_code)
        await self._on_chain()
        return await self._record()

    async def _identity(self) -> tuple[str, str, DidRecord | None]:
        found = await self.vault.query()
        if not found.credentials:
            raise ClientStateError("the vault holds no passkey")
        # The newest first: after a move, the older ones are a former service's.
        ids = [self.passkey] if self.passkey else [it.credential_id for it in reversed(found.credentials)]
        rows: list[tuple[str, str, DidRecord | None]] = []
        for credential_id in ids:
            known = await self.client.lookup_did(credential_id)
            rows.append((found.did, credential_id, known))
            if known is not None and known.did == found.did:
                return rows[-1]
        return rows[0]

    def _adopt(self) -> None:
        """Note the transaction that registered the DID on the chain for another service."""
        known = self.known
        if known is not None and known.tx_hash != NO_TRANSACTION:
            self._notes.note(tx_hash=known.tx_hash, block_number=known.block_number, smart_account=known.smart_account)

    async def _again(self, known: DidRecord) -> Registration:
        """Return the registration; if it states no transaction, and the service has a bundler now, add one first."""
        if known.did == self._did and known.tx_hash == NO_TRANSACTION:
            with suppress(RegistrationRefused):  # the DID is on the chain, by a transaction that this store lacks
                await self._on_chain()
            if self._notes.progress.tx_hash is not None:
                return await self._record()
        return self._finished(known)

    async def _session(self) -> None:
        noted = self._notes.progress
        if noted.session_requested and (noted.attestation or noted.operation_hash or noted.tx_hash):
            return
        self._notes.note(session_requested=True)
        try:
            await self.client.create_session(noted.identifier, noted.channel, self._did)
        except RequestRefused as error:
            # The session that holds the identifier may be from an interrupted attempt of this client; POST /api/dids
            # checks this. A session whose address or number has not been verified gives way to the person who
            # verifies the address or number.
            taken = error.code == errors.IDENTIFIER_TAKEN.error
            ours = noted.session_requested or noted.channel != "handle"
            if not (taken and (ours or await self._is_mine(noted.identifier))):
                if error.status < _SERVER_ERROR and error.code != errors.IDEMPOTENCY_KEY_IN_USE.error:
                    self._notes.forget()  # without a session, a later attempt must not take another's for this one
                raise
        await self._tell("session")

    async def _is_mine(self, handle: str) -> bool:
        """Return whether this vault's DID holds the handle, from a registration that the chain refused for example."""
        if (await self.client.check_alias(handle)).did == self._did:
            return True
        # A handle that became reserved after its registration is taken only to its own DID; to others it is reserved.
        return (await self.client.check_session(handle)).reason == "reserved"

    async def _verification(self, ask_code: Callable[[str], object] | None) -> None:
        noted = self._notes.progress
        if noted.attestation and _end_of(noted.attestation) > self._now() + REGISTRATIONS.spare_s:
            return
        if ask_code is None:
            raise ValueError("code: a function that returns the code that was sent")
        await self.client.send_code(noted.identifier, noted.channel)
        await self._tell("code sent")
        self._notes.note(attestation=await self._attestation(ask_code))
        await self._tell("verified")

    async def _attestation(self, ask_code: Callable[[str], object]) -> Attestation:
        noted, message = self._notes.progress, ""
        for _ in range(REGISTRATIONS.code_attempts):
            code = await answered(ask_code, message or f"code sent to {noted.identifier}")
            if not code:
                break
            checked = await self.client.check_code(noted.identifier, noted.channel, code)
            if checked.verified and checked.attestation is not None:
                return checked.attestation
            message = checked.message or "the code is incorrect"
        raise RegistrationRefused(message or "no code was given")

    async def _on_chain(self) -> None:
        if self._notes.progress.tx_hash is not None:
            return
        try:
            await self.client.bundler("eth_supportedEntryPoints")
        except RequestRefused as error:
            if error.code != errors.BUNDLER_NOT_CONFIGURED.error:
                raise
            return
        await ChainRegistration(self.client, self.account, self._notes, self._tell).run(self._did)

    async def _record(self) -> Registration:
        noted = self._notes.progress
        try:
            await self.client.register_did(
                credential_id=self._credential_id,
                identifier=noted.identifier,
                channel=noted.channel,
                did=self._did,
                tx_hash=noted.tx_hash or NO_TRANSACTION,
                block_number=noted.block_number,
                smart_account=noted.smart_account,
                attestation=noted.attestation,
                token=await self._token(),
            )
        except RequestRefused as error:
            there = error.code in REGISTRATIONS.repeated and await self.client.lookup_did(self._credential_id)
            if error.code in REGISTRATIONS.of_attestation:
                self._notes.note(attestation=None)
            if error.code == errors.REGISTRATION_UNPROVEN.error and noted.tx_hash is None:
                raise RegistrationRefused(
                    "the service requires a transaction that registers this DID, and has no bundler that could send one"
                ) from error
            if not there:
                raise
        known = await self.client.lookup_did(self._credential_id)
        if known is None:
            raise RegistrationRefused("the service accepted the registration but does not return it: try again later")
        await self._tell("registered")
        return self._finished(known)

    async def _token(self) -> str:
        """Return the vault's signature, without which recoveries would not know the identifier."""
        args = {"credentialId": self._credential_id}
        return await service_token(self.vault, self.audience, REGISTER, args, self._now)

    def _finished(self, known: DidRecord) -> Registration:
        if known.did != self._did:
            raise RegistrationRefused("this passkey is registered for another DID")
        if known.tx_hash != NO_TRANSACTION or self._notes.progress.tx_hash is None:
            self._notes.forget()  # otherwise the next call adds the transaction
        return msgspec.convert(known, Registration, from_attributes=True)

    async def _tell(self, step: str) -> None:
        await answered(self._on_progress, step)


def _end_of(attestation: Attestation) -> float:
    """Return the Unix time until which an attestation is valid, 0 for another text: the person is asked again."""
    try:
        return from_iso(attestation.expires_at)
    except ValueError:
        return 0

"""Registers DIDs, and finds the DID of a credential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.chain.registrations import Sought
from holdfast.rules.addresses import NOWHERE
from holdfast.rules.attestations import VerifiedAttestation, verify_at
from holdfast.rules.confirmation import states_no_transaction
from holdfast.rules.identifiers import Channel
from holdfast.rules.quotas import of_did_post
from holdfast.rules.registration import Confirmation, RegistrationRequest, RegistrationRule
from holdfast.rules.registration_tokens import signature_of
from holdfast.service.store.values import LateTransaction, NewRegistration
from holdfast.wire.errors import ATTESTATION_REQUIRED, CREDENTIAL_ALREADY_REGISTERED, REGISTRATION_UNPROVEN, Refused

if TYPE_CHECKING:
    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.limits import Ceilings, Limits
    from holdfast.service.clock import Clock
    from holdfast.service.operations.confirmation import Confirmations
    from holdfast.service.operations.sessions import Sessions
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.store.port import Store
    from holdfast.service.store.values import RegisteredDid, StoredResponse
    from holdfast.wire.errors import ErrorRow
    from holdfast.wire.requests import RegisterDid

# How a repeated registration is refused; the second, if it brings no attestation.
_REPEATED = frozenset({CREDENTIAL_ALREADY_REGISTERED, ATTESTATION_REQUIRED})


@dataclass(frozen=True, slots=True)
class Dids:
    """Registers DIDs and finds them."""

    store: Store
    sessions: Sessions
    confirmations: Confirmations
    secrets: Secrets
    registrar: str
    limits: Limits
    ceilings: Ceilings
    clock: Clock
    proof_required: bool

    async def register(
        self,
        request: RegisterDid,
        identifier: Identifier,
        ip: str,
        response: StoredResponse | None = None,
        authorization: str | None = None,
        invitation: str | None = None,
        network: str = NOWHERE,
    ) -> None:
        """Register a DID. Raises Refused; the checks run in the decided order (decisions, sections 5 and 6).

        Args:
            request: the request in canonical form.
            identifier: the identifier for which the DID is registered.
            ip: the client address that the limits apply to.
            response: the response to store for repeats.
            authorization: the header's value, which may contain a signature by the DID's key.
            invitation: the code in the header `Holdfast-Invitation`.
            network: what `ip` is the hash of, to which bans apply.
        """
        now = self.clock()
        await self.store.charge(of_did_post(ip, self.ceilings), now)
        try:
            await self._register(request, identifier, ip, now, response, authorization, invitation, network)
        except Refused as refused:
            if refused.row not in _REPEATED or not await self._transaction_added(request, identifier, now, response):
                raise

    async def _register(  # noqa: PLR0913, PLR0917 - what a request brings
        self,
        request: RegisterDid,
        identifier: Identifier,
        ip: str,
        now: float,
        response: StoredResponse | None,
        authorization: str | None,
        invitation: str | None,
        network: str,
    ) -> None:
        proof = self._proof(request, identifier, now)
        confirmation = Confirmation.PENDING
        if self.proof_required:
            confirmation, block_number = await self._proven(request, identifier)
            request = replace(request, block_number=block_number)
        registration = NewRegistration(
            request=request,
            identifier=identifier,
            attestation=(proof.signature, proof.expires_at) if proof else None,
            confirmation=confirmation,
            ip=ip,
            now=now,
            signed=await self._is_signed(authorization, request, now),
            network=network,
        )
        async with self.sessions.admission.of(identifier, request.did, invitation) as barred:
            await self.store.register(registration, self._decision(registration, barred), response)

    async def look_up(self, credential: str) -> RegisteredDid | None:
        """Return the registration of a credential ID in canonical form, unless the chain refused the registration."""
        return await self.store.find_credential(credential)

    async def _transaction_added(
        self, request: RegisterDid, identifier: Identifier, now: float, response: StoredResponse | None
    ) -> bool:
        """Record the request's transaction if the stored registration states none, and the chain proves this one.

        Anyone may name the transaction, because only one that the DID's own key sent is recorded.
        """
        known = (
            None if states_no_transaction(request.tx_hash) else await self.store.find_credential(request.credential_id)
        )
        if known is None or known.did != request.did or not states_no_transaction(known.tx_hash):
            return False
        account = request.smart_account or known.smart_account
        block_number = await self._settled_in(replace(request, smart_account=account), identifier)
        if block_number is None:
            return False
        late = LateTransaction(
            credential=request.credential_id,
            identifier=identifier,
            did=request.did,
            instead_of=known.tx_hash,
            tx_hash=request.tx_hash,
            smart_account=account,
            block_number=block_number,
            now=now,
        )
        return await self.store.add_transaction(late, response)

    async def _settled_in(self, request: RegisterDid, identifier: Identifier) -> int | None:
        """Return the block in which the DID's own key registered it, if enough blocks follow; None if unknown."""
        if not self.confirmations.controllers.show_the_key(request.did):
            return None
        try:
            proof = await self.confirmations.prove(request.tx_hash, _sought(request, identifier))
        except Refused:  # the chain does not respond
            return None
        return proof.block_number if proof is not None and proof.deep else None

    def _decision(self, registration: NewRegistration, barred: ErrorRow | None) -> RegistrationRule:
        identifier = registration.identifier
        request = RegistrationRequest(
            identifier.channel,
            registration.request.did,
            self.sessions.is_reserved(identifier),
            registration.confirmation is Confirmation.CONFIRMED,
            registration.signed,
            barred,
        )
        return RegistrationRule(request, self.limits, self.ceilings)

    async def _is_signed(self, authorization: str | None, request: RegisterDid, now: float) -> bool:
        token = signature_of(authorization, self.registrar, request.did, request.credential_id, now)
        return token is not None and not await self.store.snapshots.is_revoked(token.did, token.cids, token.issued_at)

    def _proof(self, request: RegisterDid, identifier: Identifier, now: float) -> VerifiedAttestation | None:
        if identifier.channel is Channel.HANDLE:
            return None
        if request.attestation is None:
            raise Refused(ATTESTATION_REQUIRED)
        return verify_at(request.attestation, identifier, self.secrets.signing_keys, self.registrar, now)

    async def _proven(self, request: RegisterDid, identifier: Identifier) -> tuple[Confirmation, int]:
        """Check the transaction on the chain.

        If too few blocks follow it, the confirmation job checks it again later.
        """
        proof = await self.confirmations.prove(request.tx_hash, _sought(request, identifier))
        if proof is None:
            raise Refused(REGISTRATION_UNPROVEN)
        return Confirmation.CONFIRMED if proof.deep else Confirmation.PENDING, proof.block_number


def _sought(request: RegisterDid, identifier: Identifier) -> Sought:
    handle = identifier.key if identifier.channel is Channel.HANDLE else None
    return Sought(request.did, request.smart_account, handle)

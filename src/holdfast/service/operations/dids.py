"""Registration of DIDs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.chain.registrations import Sought
from holdfast.rules.attestations import Proof, verify_at
from holdfast.rules.identifiers import Channel
from holdfast.rules.quotas import of_did_post
from holdfast.rules.registration import Confirmation, RegistrationFacts, Wish, admit_registration
from holdfast.service.store.port import NewRegistration
from holdfast.wire.errors import ATTESTATION_REQUIRED, REGISTRATION_UNPROVEN, Refused

if TYPE_CHECKING:
    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.limits import Ceilings, Limits
    from holdfast.rules.registration import Move
    from holdfast.service.clock import Clock
    from holdfast.service.operations.confirmation import Confirmations
    from holdfast.service.operations.sessions import Sessions
    from holdfast.service.secrets import Secrets
    from holdfast.service.store.port import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRequest:
    """A checked request of POST /api/dids; `attestation` as it came."""

    identifier: Identifier
    did: str
    credential: str
    tx_hash: str
    block_number: int | None
    smart_account: str | None
    attestation: Any
    ip: str


@dataclass(frozen=True, slots=True)
class Dids:
    """Registers DIDs."""

    store: Store
    sessions: Sessions
    confirmations: Confirmations
    secrets: Secrets
    registrar: str
    limits: Limits
    ceilings: Ceilings
    clock: Clock
    proof_required: bool

    async def register(self, request: RegistrationRequest) -> None:
        """Register a DID. Raises Refused in the decided order (decisions, sections 5 and 6)."""
        now = self.clock()
        await self.store.charge(of_did_post(request.ip, self.ceilings), now)
        proof = self._proof(request, now)
        confirmation, block_number = Confirmation.PENDING, request.block_number
        if self.proof_required:
            confirmation, block_number = await self._proven(request)
        identifier = request.identifier
        confirmed = confirmation is Confirmation.CONFIRMED
        wish = Wish(identifier.channel, request.did, self.sessions.is_reserved(identifier), confirmed)

        def decide(facts: RegistrationFacts) -> Move:
            return admit_registration(wish, facts, self.limits, self.ceilings)

        registration = NewRegistration(
            identifier=identifier,
            did=request.did,
            credential=request.credential,
            tx_hash=request.tx_hash,
            block_number=block_number,
            smart_account=request.smart_account,
            attestation=(proof.signature, proof.expires_at) if proof else None,
            confirmation=confirmation,
            ip=request.ip,
            now=now,
        )
        await self.store.register(registration, decide)

    def _proof(self, request: RegistrationRequest, now: float) -> Proof | None:
        if request.identifier.channel is Channel.HANDLE:
            return None
        if request.attestation is None:
            raise Refused(ATTESTATION_REQUIRED)
        keys, registrar = self.secrets.signing_keys, self.registrar
        return verify_at(request.attestation, request.identifier, keys, registrar, now)

    async def _proven(self, request: RegistrationRequest) -> tuple[Confirmation, int]:
        """What the chain shows must hold now; with too few blocks on top it is confirmed later, like any other."""
        handle = request.identifier.key if request.identifier.channel is Channel.HANDLE else None
        proof = await self.confirmations.prove(request.tx_hash, Sought(request.did, request.smart_account, handle))
        if proof is None:
            raise Refused(REGISTRATION_UNPROVEN)
        return Confirmation.CONFIRMED if proof.deep else Confirmation.PENDING, proof.block_number

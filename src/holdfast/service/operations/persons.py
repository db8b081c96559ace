"""What a person may ask about all that the service stores of their DID: a copy, and its removal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.rules.additions import require_added
from holdfast.rules.attestations import VerifiedAttestation, verify_at
from holdfast.rules.limits import ADDRESSES_PER_DID
from holdfast.rules.person_tokens import RemovalRequest, added_address, removal_request
from holdfast.service.store.persons import NewAddress, Removal, Removed
from holdfast.wire.commands import ADD, EXPORT, REMOVE
from holdfast.wire.encoding import to_iso
from holdfast.wire.errors import Refused
from holdfast.wire.failures import ATTESTATION_REFUSED, SnapshotRefused
from holdfast.wire.models import PersonExport

if TYPE_CHECKING:
    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.pseudonyms import Pseudonyms
    from holdfast.service.clock import Clock
    from holdfast.service.operations.snapshot_access import SnapshotAccess
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.store.port import Store

_JSON = ("origins", "meta")


@dataclass(frozen=True, slots=True)
class AddressProofs:
    """Verifies attestations that a token contains."""

    secrets: Secrets
    registrar: str

    def verified(self, attestation: dict[str, str], identifier: Identifier, now: float) -> VerifiedAttestation:
        """Return the verified attestation. Raises SnapshotRefused(ATTESTATION_REFUSED)."""
        try:
            return verify_at(attestation, identifier, self.secrets.signing_keys, self.registrar, now)
        except Refused as refused:
            raise SnapshotRefused(ATTESTATION_REFUSED, refused.row.error) from None


@dataclass(frozen=True, slots=True)
class Persons:
    """Answers requests that the vault's key signed. A DID of which nothing is stored gets the same answers."""

    store: Store
    access: SnapshotAccess
    pseudonyms: Pseudonyms
    clock: Clock
    proofs: AddressProofs

    async def export(self, authorization: str | None, address: str) -> PersonExport:
        """Return all rows about the token's DID. Raises SnapshotRefused."""
        bearer = await self.access.bearer(authorization, address, EXPORT, registered=False)
        await self.access.count_person_request(address)
        return await person_export(self.store, bearer.did, self.pseudonyms, self.clock())

    async def remove(self, authorization: str | None, address: str) -> Removed:
        """Remove what the token names; a repeat with the same token gets the first result. Raises SnapshotRefused."""
        bearer = await self.access.bearer(authorization, address, REMOVE, registered=False)
        request = removal_request(bearer.args)
        await self.access.count_person_request(address)
        return await self.store.take_back(
            Removal(
                did=bearer.did,
                credential=request.credential,
                name=_claim_key(request),
                now=self.clock(),
                pseudonyms=self.pseudonyms,
                token=bearer.digest,
                until=bearer.expires_at,
            )
        )

    async def add(self, authorization: str | None, address: str, network: str) -> Identifier:
        """Make the address whose attestation the token names the DID's; return it.

        Args:
            authorization: the header with the token.
            address: the hash of the client's address, to which limits apply.
            network: what `address` is the hash of, to which bans apply.

        Raises:
            SnapshotRefused: the token or the rule does not admit it.
        """
        bearer = await self.access.bearer(authorization, address, ADD)
        identifier, attestation = added_address(bearer.args)
        proof = self.proofs.verified(attestation, identifier, self.clock())
        await self.access.count_person_request(address)
        added = NewAddress(
            did=bearer.did,
            identifier=identifier,
            attestation=(proof.signature, proof.expires_at),
            ip=address,
            now=self.clock(),
            token=bearer.digest,
            until=bearer.expires_at,
            most=ADDRESSES_PER_DID,
            network=network,
        )
        require_added(await self.store.add_address(added))
        return identifier


async def person_export(store: Store, did: str, pseudonyms: Pseudonyms, now: float) -> PersonExport:
    """Return all rows about a DID, for the person or for an operator. Raises StoreUnavailable."""
    rows = await store.held_of(did, pseudonyms.of_did(did))
    readable: dict[str, Any] = {kind: [_readable(row) for row in found] for kind, found in rows.items()}
    return PersonExport(did=did, exported_at=to_iso(now), **readable)


def _claim_key(request: RemovalRequest) -> tuple[str, str] | None:
    return None if request.identifier is None else (request.identifier.channel.value, request.identifier.key)


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with times as RFC 3339 and values of both kinds of database in one form."""
    return {_name(name): _value(name, value) for name, value in row.items()}


def _name(column: str) -> str:
    return "created_at" if column == "created_us" else column


def _value(column: str, value: Any) -> Any:
    if value is None:
        return None
    if column == "created_us":
        return to_iso(value / 1_000_000)
    if column == "at" or column.endswith("_at"):
        return to_iso(value)
    if column in _JSON:
        return msgspec.json.decode(value)
    return bool(value) if column == "signed" else value

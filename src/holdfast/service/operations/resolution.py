"""Resolves a `did:new` by the chain's registry, or to an empty document if it is only registered at this service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.chain.errors import RpcError
from holdfast.rules import abi
from holdfast.rules.did_documents import Document, OnChain, RegistryLocation, document_of, key_of, metadata_of
from holdfast.wire.encoding import to_hex
from holdfast.wire.failures import CHAIN_UNREACHABLE, DID_NOT_FOUND, SnapshotRefused
from holdfast.wire.keccak import did_hash

if TYPE_CHECKING:
    from holdfast.service.operations.accounts import Accounts
    from holdfast.service.operations.controllers import Controllers
    from holdfast.service.store.snapshot_index import SnapshotIndex


@dataclass(frozen=True, slots=True)
class Resolved:
    """A DID's document with its metadata."""

    document: Document
    metadata: Document
    deactivated: bool


@dataclass(frozen=True, slots=True)
class Resolution:
    """Resolves DIDs from the registry on the default chain and the registrations of this service."""

    index: SnapshotIndex
    accounts: Accounts
    controllers: Controllers
    location: RegistryLocation

    async def resolve(self, did: str) -> Resolved:
        """Return the document of a `did:new`.

        Raises:
            SnapshotRefused: DID_NOT_FOUND for a DID neither on the chain nor registered here; CHAIN_UNREACHABLE,
                because the chain alone knows whether the DID is deactivated.
        """
        found = await self._on_chain(did)
        if found is None and not await self.index.is_registered(did):
            raise SnapshotRefused(DID_NOT_FOUND)
        deactivated = found is not None and not found.active
        return Resolved(document_of(did, found, self.location), metadata_of(did, found, self.location), deactivated)

    async def _on_chain(self, did: str) -> OnChain | None:
        try:
            return await self._found(did)
        except (RpcError, abi.MalformedAnswer):
            raise SnapshotRefused(CHAIN_UNREACHABLE) from None

    async def _found(self, did: str) -> OnChain | None:
        answer = await self.accounts.chain.call(to_hex(self.location.registry), abi.GET_DID + did_hash(did), 0)
        if not answer:
            return None  # a chain without a registry
        controller, active = abi.decode_did(answer)
        if not any(controller) or not await self.controllers.may_hold(did, controller):
            return None
        slots = await self.accounts.read_state(controller)
        return OnChain(controller, active, key_of(slots.pub_key_x, slots.pub_key_y))

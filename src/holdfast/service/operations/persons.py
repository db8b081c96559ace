"""What a person may ask about all that the service stores of their DID: a copy, and its removal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.rules.person_tokens import EXPORT, REMOVE, RemovalRequest, removal_request
from holdfast.service.store.persons import Removal, Removed
from holdfast.wire.encoding import to_iso
from holdfast.wire.models import PersonExport

if TYPE_CHECKING:
    from holdfast.rules.pseudonyms import Pseudonyms
    from holdfast.service.clock import Clock
    from holdfast.service.operations.snapshot_access import SnapshotAccess
    from holdfast.service.store.port import Store

_JSON = ("origins", "meta")


@dataclass(frozen=True, slots=True)
class Persons:
    """Answers requests that the vault's key signed. A DID of which nothing is stored gets the same answers."""

    store: Store
    access: SnapshotAccess
    pseudonyms: Pseudonyms
    clock: Clock

    async def export(self, authorization: str | None, address: str) -> PersonExport:
        """Return all rows about the token's DID. Raises SnapshotRefused."""
        bearer = await self.access.bearer(authorization, address, EXPORT, registered=False)
        await self.access.count_person_request(address)
        return await person_export(self.store, bearer.did, self.pseudonyms, self.clock())

    async def remove(self, authorization: str | None, address: str) -> Removed:
        """Remove what the token names; a repeat with the same token gets the first result. Raises SnapshotRefused."""
        bearer = await self.access.bearer(authorization, address, REMOVE, registered=False)
        asked = removal_request(bearer.args)
        await self.access.count_person_request(address)
        return await self.store.take_back(
            Removal(
                did=bearer.did,
                credential=asked.credential,
                name=_place(asked),
                now=self.clock(),
                pseudonyms=self.pseudonyms,
                token=bearer.digest,
                until=bearer.expires_at,
            )
        )


async def person_export(store: Store, did: str, pseudonyms: Pseudonyms, now: float) -> PersonExport:
    """Return all rows about a DID, for the person or for an operator. Raises StoreUnavailable."""
    rows = await store.held_of(did, pseudonyms.of_did(did))
    readable: dict[str, Any] = {kind: [_readable(row) for row in found] for kind, found in rows.items()}
    return PersonExport(did=did, exported_at=to_iso(now), **readable)


def _place(asked: RemovalRequest) -> tuple[str, str] | None:
    return None if asked.identifier is None else (asked.identifier.channel.value, asked.identifier.key)


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

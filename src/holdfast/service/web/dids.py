"""POST /api/dids, GET /api/dids/lookup, GET /api/aliases/check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules import dids as rules
from holdfast.rules.identifiers import Channel, parse_channel, parse_identifier
from holdfast.service.http.messages import raw_json
from holdfast.service.operations.dids import RegistrationRequest
from holdfast.service.web.serving import serves
from holdfast.wire.encoding import to_iso
from holdfast.wire.endpoints import CHECK_ALIAS, LOOK_UP_DID, REGISTER_DID
from holdfast.wire.models import AliasAvailability, DidRecord, DidRegistered

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response
    from holdfast.service.service import Service
    from holdfast.wire.requests import CheckAlias, LookUpDid, RegisterDid

_NOT_FOUND = b'{"found":false}'
_AVAILABLE = b'{"available":true}'


@serves(REGISTER_DID)
async def register_did(service: Service, asked: RegisterDid, request: Request) -> DidRegistered:
    """POST /api/dids."""
    wanted = RegistrationRequest(
        identifier=parse_identifier(asked.identifier, parse_channel(asked.channel)),
        did=rules.parse_did(asked.did),
        credential=rules.parse_credential_id(asked.credential_id),
        tx_hash=rules.parse_tx_hash(asked.tx_hash),
        block_number=rules.parse_block_number(asked.block_number),
        smart_account=rules.parse_smart_account(asked.smart_account),
        attestation=asked.attestation,
        ip=service.client_address.subject(request),
    )
    await service.dids.register(wanted)
    return DidRegistered(identifier=asked.identifier, channel=asked.channel, tx_hash=asked.tx_hash)


@serves(LOOK_UP_DID)
async def look_up_did(service: Service, asked: LookUpDid, _request: Request) -> DidRecord | Response:
    """GET /api/dids/lookup."""
    # In a query "+" stands for a space; only base64's own plus sign can have been meant.
    record = await service.store.find_credential(rules.parse_credential_id(asked.credential_id.replace(" ", "+")))
    if record is None:
        return raw_json(_NOT_FOUND)
    return DidRecord(
        identifier=record.identifier,
        channel=record.channel,
        did=record.did,
        tx_hash=record.tx_hash,
        block_number=record.block_number,
        smart_account=record.smart_account,
        created_at=to_iso(record.created_at),
    )


@serves(CHECK_ALIAS)
async def check_alias(service: Service, asked: CheckAlias, _request: Request) -> AliasAvailability | Response:
    """GET /api/aliases/check."""
    holding = await service.sessions.holding(parse_identifier(asked.alias, Channel.HANDLE))
    if holding.reserved:
        return AliasAvailability(available=False, did=service.registrar)
    if holding.claim is None:
        return raw_json(_AVAILABLE)
    return AliasAvailability(available=False, did=holding.claim.did)

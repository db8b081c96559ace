"""POST /api/dids, GET /api/dids/lookup, GET /api/aliases/check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules import dids as rules
from holdfast.rules.identifiers import Channel, parse_channel, parse_identifier
from holdfast.service.operations.dids import RegistrationRequest
from holdfast.service.web.http import json_response, raw_json
from holdfast.service.web.input import json_object, query_values, require, text_field
from holdfast.wire.encoding import to_iso
from holdfast.wire.errors import MISSING_ALIAS, MISSING_CREDENTIAL_ID, MISSING_DID_FIELDS
from holdfast.wire.models import AliasAvailability, DidRecord, DidRegistered

if TYPE_CHECKING:
    from holdfast.service.service import Service
    from holdfast.service.web.http import Request, Response

_NOT_FOUND = b'{"found":false}'
_AVAILABLE = b'{"available":true}'


async def register_did(service: Service, request: Request) -> Response:
    """POST /api/dids."""
    fields = await json_object(request)
    credential, given, channel, did, tx_hash = require(
        MISSING_DID_FIELDS,
        text_field(fields, "credentialId"),
        text_field(fields, "identifier", "handle", "name"),
        text_field(fields, "channel"),
        text_field(fields, "did"),
        text_field(fields, "txHash"),
    )
    identifier = parse_identifier(given, parse_channel(channel))
    wish = RegistrationRequest(
        identifier=identifier,
        did=rules.parse_did(did),
        credential=rules.parse_credential_id(credential),
        tx_hash=rules.parse_tx_hash(tx_hash),
        block_number=rules.parse_block_number(fields.get("blockNumber")),
        smart_account=rules.parse_smart_account(fields.get("smartAccount")),
        attestation=fields.get("attestation"),
        ip=service.client_address.subject(request),
    )
    await service.dids.register(wish)
    return json_response(DidRegistered(identifier=given, channel=channel, tx_hash=tx_hash))


async def look_up_did(service: Service, request: Request) -> Response:
    """GET /api/dids/lookup."""
    (given,) = require(MISSING_CREDENTIAL_ID, query_values(request.query).get("credentialId"))
    # In a query "+" stands for a space; only base64's own plus sign can have been meant.
    record = await service.store.find_credential(rules.parse_credential_id(given.replace(" ", "+")))
    if record is None:
        return raw_json(_NOT_FOUND)
    return json_response(
        DidRecord(
            identifier=record.identifier,
            channel=record.channel,
            did=record.did,
            tx_hash=record.tx_hash,
            block_number=record.block_number,
            smart_account=record.smart_account,
            created_at=to_iso(record.created_at),
        )
    )


async def check_alias(service: Service, request: Request) -> Response:
    """GET /api/aliases/check."""
    (alias,) = require(MISSING_ALIAS, query_values(request.query).get("alias"))
    holding = await service.sessions.holding(parse_identifier(alias, Channel.HANDLE))
    if holding.reserved:
        return json_response(AliasAvailability(available=False, did=service.registrar))
    if holding.claim is None:
        return raw_json(_AVAILABLE)
    return json_response(AliasAvailability(available=False, did=holding.claim.did))

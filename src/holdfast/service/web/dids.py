"""POST /api/dids, GET /api/dids/lookup, GET /api/aliases/check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules import dids as rules
from holdfast.rules.identifiers import Channel, parse_channel, parse_identifier
from holdfast.service.http.messages import raw_json
from holdfast.service.web.context import INVITATION
from holdfast.service.web.idempotency import stored_response
from holdfast.service.web.serving import serves
from holdfast.wire.encoding import to_iso
from holdfast.wire.endpoints import CHECK_ALIAS, LOOK_UP_DID, REGISTER_DID
from holdfast.wire.models import AliasAvailability, DidRecord, DidRegistered

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request, Response
    from holdfast.service.web.context import WebContext
    from holdfast.wire.requests import CheckAlias, LookUpDid, RegisterDid

_NOT_FOUND = raw_json(b'{"found":false}')
_AVAILABLE = raw_json(b'{"available":true}')


@serves(REGISTER_DID)
async def register_did(web: WebContext, fields: RegisterDid, request: Request) -> DidRegistered:
    """POST /api/dids."""
    identifier = parse_identifier(fields.identifier, parse_channel(fields.channel, web.channels))
    answer = DidRegistered(identifier=fields.identifier, channel=fields.channel, tx_hash=fields.tx_hash)
    ip, network = web.subjects(request)
    await web.service.dids.register(
        rules.canonical(fields),
        identifier,
        ip,
        stored_response(request, answer),
        request.header("authorization"),
        request.header(INVITATION),
        network,
    )
    return answer


@serves(LOOK_UP_DID)
async def look_up_did(web: WebContext, fields: LookUpDid, _request: Request) -> DidRecord | Response:
    """GET /api/dids/lookup."""
    # In a query string "+" decodes to a space. Base64 has no spaces, so a plus sign was meant.
    record = await web.service.dids.look_up(rules.parse_credential_id(fields.credential_id.replace(" ", "+")))
    if record is None:
        return _NOT_FOUND
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
async def check_alias(web: WebContext, fields: CheckAlias, _request: Request) -> AliasAvailability | Response:
    """GET /api/aliases/check."""
    holder = await web.service.sessions.holder(parse_identifier(fields.alias, Channel.HANDLE))
    return _AVAILABLE if holder is None else AliasAvailability(available=False, did=holder)

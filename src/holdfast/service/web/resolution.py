"""GET /1.0/identifiers/{did} and /.well-known/did.json: DID documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from holdfast.rules.did_documents import parse_new, service_document
from holdfast.rules.resolution import is_document, media_of, result_of
from holdfast.service.http.messages import ANY_ORIGIN, EXPOSED, NO_SNIFFING, Response, cached_json, error_response
from holdfast.service.web.prepared import FILE_CACHE
from holdfast.service.web.serving import serves_plainly
from holdfast.wire.endpoints import RESOLVE_DID, SERVICE_DID
from holdfast.wire.errors import NOT_FOUND
from holdfast.wire.failures import DID_DEACTIVATED

if TYPE_CHECKING:
    from holdfast.rules.did_documents import Document
    from holdfast.service.http.messages import Request
    from holdfast.service.operations.resolution import Resolved
    from holdfast.service.web.context import WebContext
    from holdfast.wire.failures import FailureRow

_FOLDER = "/1.0/identifiers/"
_OK = 200


@serves_plainly(RESOLVE_DID)
async def resolve_did(web: WebContext, request: Request) -> Response:
    """GET /1.0/identifiers/{did}."""
    did = parse_new(request.path.removeprefix(_FOLDER))
    media = media_of(request.header("accept"))
    web.service.chain_reads.count(web.subject(request))
    found = await web.service.resolution.resolve(did)
    headers = [("content-type", media), ("cache-control", "no-store"), ("vary", "Accept")]
    gone = DID_DEACTIVATED if found.deactivated else None
    body = found.document if is_document(media) else _result(found, gone)
    status = gone.status if gone else _OK
    return Response(status, [*headers, ANY_ORIGIN, EXPOSED, NO_SNIFFING], msgspec.json.encode(body))


@serves_plainly(SERVICE_DID)
async def service_did(web: WebContext, _request: Request) -> Response:
    """GET /.well-known/did.json."""
    document = service_document(web.registrar, web.public_url, snapshots=web.service.snapshots is not None)
    return error_response(NOT_FOUND) if document is None else cached_json(document, FILE_CACHE)


def _result(found: Resolved, gone: FailureRow | None) -> Document:
    if gone is None:
        return result_of(found.document, found.metadata)
    return result_of(found.document, found.metadata, error=gone.reason, message=gone.details)

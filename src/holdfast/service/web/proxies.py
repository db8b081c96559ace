"""POST /api/bundler and GET /api/indexer/{path}."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from holdfast.rules.allowlists import indexer_path
from holdfast.rules.limits import MAX_BUNDLER_BODY_BYTES
from holdfast.service.upstreams.proxy import REQUEST_HEADERS, UpstreamError
from holdfast.service.web.http import ANY_ORIGIN, EXPOSED, NO_SNIFFING, Response, raw_json
from holdfast.service.web.serving import serves_plainly
from holdfast.wire.endpoints import BUNDLER, INDEXER
from holdfast.wire.errors import INDEXER_ERROR, INDEXER_NOT_CONFIGURED, NOT_FOUND, Refused

if TYPE_CHECKING:
    from holdfast.service.service import Service
    from holdfast.service.web.http import Request

_log = logging.getLogger("holdfast.proxies")


@serves_plainly(BUNDLER)
async def bundler(service: Service, request: Request) -> Response:
    """POST /api/bundler."""
    return raw_json(await service.bundler.forward(await request.body(MAX_BUNDLER_BODY_BYTES)))


@serves_plainly(INDEXER)
async def indexer(service: Service, request: Request) -> Response:
    """GET /api/indexer/{path}."""
    path = indexer_path(request.raw_path)
    if path is None:
        raise Refused(NOT_FOUND)
    if service.indexer is None:
        raise Refused(INDEXER_NOT_CONFIGURED)
    headers = {name: value for name, value in request.all_headers() if name in REQUEST_HEADERS}
    try:
        answer = await service.indexer.get(path, request.query, headers)
    except UpstreamError as error:
        _log.warning("indexer failed", extra={"why": str(error)})
        raise Refused(INDEXER_ERROR) from None
    return Response(answer.status, [*answer.headers, ANY_ORIGIN, EXPOSED, NO_SNIFFING], answer.body)

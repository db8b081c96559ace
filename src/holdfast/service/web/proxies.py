"""POST /api/bundler, POST /api/paymaster/{chain_id} and GET /api/indexer/{path}."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import unquote

from holdfast.rules.allowlists import indexer_path
from holdfast.service.http.messages import ANY_ORIGIN, EXPOSED, NO_SNIFFING, Response, raw_json
from holdfast.service.upstreams.proxy import REQUEST_HEADERS, UpstreamError
from holdfast.service.web.serving import serves, serves_plainly
from holdfast.wire.endpoints import BUNDLER, BUNDLER_OF_CHAIN, INDEXER, PAYMASTER
from holdfast.wire.errors import INDEXER_ERROR, INDEXER_NOT_CONFIGURED, NOT_FOUND, Refused

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request
    from holdfast.service.upstreams.proxy import UpstreamAnswer
    from holdfast.service.web.context import WebContext
    from holdfast.wire.requests import CallBundler

PASSED_TYPES = frozenset({"application/json", "application/problem+json", "application/x-ndjson", "text/plain"})
OPAQUE_TYPE = "application/octet-stream"
SANDBOXED = ("content-security-policy", "sandbox; default-src 'none'")
_BUNDLERS, _PAYMASTERS = "/api/bundler/", "/api/paymaster/"
_READS_CHAIN = "/transfers"  # Holdfast's own indexer reads these from the chain, not from its database
_READS_OF_A_PAGE = 12  # as many requests for logs as a page needs at most
_log = logging.getLogger("holdfast.proxies")


@serves(BUNDLER)
async def bundler(web: WebContext, fields: CallBundler, request: Request) -> Response:
    """POST /api/bundler."""
    return raw_json(await web.service.relay.forward(fields, web.subject(request)))


@serves(BUNDLER_OF_CHAIN)
async def bundler_of_chain(web: WebContext, fields: CallBundler, request: Request) -> Response:
    """POST /api/bundler/{chain_id}."""
    there = web.service.chains.named(request.path.removeprefix(_BUNDLERS))
    return raw_json(await there.relay.forward(fields, web.subject(request)))


@serves(PAYMASTER)
async def paymaster(web: WebContext, fields: CallBundler, request: Request) -> Response:
    """POST /api/paymaster/{chain_id}."""
    there = web.service.chains.named(request.path.removeprefix(_PAYMASTERS))
    return raw_json(await there.relay.sponsored(fields, web.subject(request)))


@serves_plainly(INDEXER)
async def indexer(web: WebContext, request: Request) -> Response:
    """GET /api/indexer/{path}."""
    path = indexer_path(request.raw_path)
    if path is None:
        raise Refused(NOT_FOUND)
    if web.service.indexer is None:
        raise Refused(INDEXER_NOT_CONFIGURED)
    if unquote(path).endswith(_READS_CHAIN):
        web.count(web.service.chain_reads, request, _READS_OF_A_PAGE)
    headers = {name: value for name, value in request.all_headers() if name in REQUEST_HEADERS}
    try:
        answer = await web.service.indexer.get(path, request.query, headers)
    except UpstreamError as error:
        _log.warning("indexer failed", extra={"why": str(error)})
        raise Refused(INDEXER_ERROR) from None
    return Response(answer.status, [*_harmless(answer), ANY_ORIGIN, EXPOSED, NO_SNIFFING, SANDBOXED], answer.body)


def _harmless(answer: UpstreamAnswer) -> list[tuple[str, str]]:
    """Return the headers of an upstream's response, with a content type that browsers do not render as a page.

    The response has the service's origin, on which passkeys work, so a compromised indexer must not be able to show a
    page on this origin. The upstream's status and body are forwarded unchanged.
    """
    return [(name, _inert(value) if name == "content-type" else value) for name, value in answer.headers]


def _inert(content_type: str) -> str:
    essence = content_type.partition(";")[0].strip().lower()
    return content_type if essence in PASSED_TYPES else OPAQUE_TYPE

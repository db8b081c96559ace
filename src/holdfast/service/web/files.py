"""Serves the enclave, the payment handler's files and the pages about the HTTP interface."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from holdfast.rules.crawlers import security_text
from holdfast.service.http.messages import ANY_ORIGIN, EXPOSED, Response, error_response
from holdfast.service.http.static import StaticAnswer
from holdfast.service.web.openapi import document
from holdfast.service.web.openapi_page import page
from holdfast.service.web.prepared import FILE_CACHE, HTML, JSON, SCRIPT, TEXT
from holdfast.service.web.serving import serves_plainly
from holdfast.wire import endpoints
from holdfast.wire.errors import NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.service.http.messages import Request
    from holdfast.service.web.context import WebContext
    from holdfast.service.web.page_files import InLanguages
    from holdfast.service.web.prepared import PreparedFiles
    from holdfast.wire.endpoints import Endpoint
    from holdfast.wire.requests import Input

_DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)


@serves_plainly(endpoints.ENCLAVE)
async def enclave(web: WebContext, request: Request) -> Response:
    """GET /enclave.wasm."""
    return await web.enclave().serve(request)


def _serve_prepared(endpoint: Endpoint[Input], choose: Callable[[PreparedFiles], StaticAnswer | InLanguages]) -> None:
    @serves_plainly(endpoint)
    async def answer(web: WebContext, request: Request) -> Response:
        return await choose(web.files).serve(request)


_serve_prepared(endpoints.PAY, lambda files: files.pay)  # the payment method's URL: browsers read its Link header
_serve_prepared(endpoints.PAY_WORKER, lambda files: files.pay_worker)
_serve_prepared(endpoints.PAY_CONFIRM, lambda files: files.pay_confirm)
_serve_prepared(endpoints.PAY_CONFIRM_SCRIPT, lambda files: files.pay_confirm_script)
_serve_prepared(endpoints.PAY_CONFIRM_STYLE, lambda files: files.pay_confirm_style)
_serve_prepared(endpoints.PAY_ICON, lambda files: files.pay_icon)
_serve_prepared(endpoints.PAY_MANIFEST, lambda files: files.pay_manifest)
_serve_prepared(endpoints.PAY_METHOD, lambda files: files.pay_method)


_serve_prepared(endpoints.ROBOTS, lambda files: files.robots)
_serve_prepared(endpoints.FAVICON, lambda files: files.favicon)


@serves_plainly(endpoints.SECURITY_TXT)
async def security_txt(web: WebContext, _request: Request) -> Response:
    """GET /.well-known/security.txt."""
    if not web.security_contact:
        return error_response(NOT_FOUND)
    text = security_text(web.security_contact, web.public_url, web.service.clock())
    return Response(200, [("content-type", TEXT), ("cache-control", FILE_CACHE), ANY_ORIGIN], text.encode())


@serves_plainly(endpoints.CLIENT_FILE)
async def client_file(web: WebContext, request: Request) -> Response:
    """GET /client/{path}."""
    return await web.files.client.serve(request)


@serves_plainly(endpoints.RELATED_ORIGINS)
async def related_origins(web: WebContext, request: Request) -> Response:
    """GET /.well-known/webauthn."""
    return web.files.related_origins.answer(request)


@serves_plainly(endpoints.WELL_KNOWN_PAYMENT_METHOD)
async def well_known_payment_method(_web: WebContext, _request: Request) -> Response:
    """GET /.well-known/payment-method-manifest."""
    return Response(302, [("location", "/pay/payment-method.json"), ANY_ORIGIN, EXPOSED], b"")


@serves_plainly(endpoints.OPENAPI)
async def openapi(_web: WebContext, request: Request) -> Response:
    """GET /openapi.json."""
    return await _openapi().serve(request)


@serves_plainly(endpoints.DOCS)
async def docs(_web: WebContext, request: Request) -> Response:
    """GET /docs."""
    return await _docs().serve(request)


@serves_plainly(endpoints.DOCS_SCRIPT)
async def docs_script(_web: WebContext, request: Request) -> Response:
    """GET /docs.js."""
    return await _docs_script().serve(request)


@cache
def _openapi() -> StaticAnswer:
    # The document is built on the first request, so that startup does not wait for it.
    return StaticAnswer(document(endpoints.ENDPOINTS), JSON, FILE_CACHE)


@cache
def _docs() -> StaticAnswer:
    made = page(document(endpoints.ENDPOINTS))
    return StaticAnswer(made, HTML, FILE_CACHE, [("content-security-policy", _DOCS_POLICY)])


@cache
def _docs_script() -> StaticAnswer:
    return StaticAnswer((files("holdfast.service") / "static/docs/docs.js").read_bytes(), SCRIPT, FILE_CACHE)

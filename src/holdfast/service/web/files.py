"""The enclave, the payment handler's files and the pages about the interface: all prepared once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from holdfast.service.http.messages import ANY_ORIGIN, EXPOSED, Response, cached_json
from holdfast.service.http.static import StaticAnswer
from holdfast.service.web.openapi import document, page
from holdfast.service.web.serving import serves_plainly
from holdfast.wire import endpoints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.service.http.messages import Request
    from holdfast.service.service import Service
    from holdfast.wire.endpoints import Endpoint
    from holdfast.wire.models import ContractSet
    from holdfast.wire.requests import Asked

ENCLAVE_CACHE = "public, max-age=3600, s-maxage=86400"
CONTRACTS_CACHE = "public, max-age=86400"
_FILE_CACHE = "public, max-age=300"
_HTML = "text/html; charset=utf-8"
_JSON = "application/json"
_SCRIPT = "text/javascript; charset=utf-8"
PAY_LINK = '</pay/manifest.json>; rel="payment-method-manifest"'
# The icon is fetched by the shop's page, so it must be allowed to cross origins.
_CROSS_ORIGIN = ("cross-origin-resource-policy", "cross-origin")
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGE_HEADERS = (
    ("content-security-policy", _PAGE_POLICY),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
)
_DOCS_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True)
class Statics:
    """Every static answer, by what it is."""

    contracts: StaticAnswer
    pay: StaticAnswer
    pay_worker: StaticAnswer
    pay_confirm: StaticAnswer
    pay_confirm_script: StaticAnswer
    pay_confirm_style: StaticAnswer
    pay_icon: StaticAnswer
    pay_manifest: StaticAnswer
    pay_method: StaticAnswer


def prepare(contracts: ContractSet) -> Statics:
    """Read and wrap every file once."""
    return Statics(
        contracts=StaticAnswer(cached_json(contracts, CONTRACTS_CACHE).body, _JSON, CONTRACTS_CACHE),
        pay=_file("pay.html", _HTML, [("link", PAY_LINK), *_PAGE_HEADERS]),
        pay_worker=_file("sw.js", _SCRIPT, [("service-worker-allowed", "/pay/")]),
        pay_confirm=_file("confirm.html", _HTML, _PAGE_HEADERS),
        pay_confirm_script=_file("confirm.js", _SCRIPT),
        pay_confirm_style=_file("confirm.css", "text/css; charset=utf-8"),
        pay_icon=_file("icon.svg", "image/svg+xml", [_CROSS_ORIGIN]),
        pay_manifest=_file("manifest.json", _JSON, [_CROSS_ORIGIN]),
        pay_method=_file("payment-method.json", _JSON),
    )


def _file(name: str, content_type: str, extra: Sequence[tuple[str, str]] = ()) -> StaticAnswer:
    body = (files("holdfast.service") / "static" / "pay" / name).read_bytes()
    return StaticAnswer(body, content_type, _FILE_CACHE, extra)


@serves_plainly(endpoints.ENCLAVE)
async def enclave(service: Service, request: Request) -> Response:
    """GET /enclave.wasm."""
    return service.enclave().answer(request)


def _serve_prepared(endpoint: Endpoint[Asked], choose: Callable[[Statics], StaticAnswer]) -> None:
    @serves_plainly(endpoint)
    async def answer(service: Service, request: Request) -> Response:
        return choose(service.statics).answer(request)


_serve_prepared(endpoints.PAY, lambda statics: statics.pay)  # the payment method's address: browsers follow its Link
_serve_prepared(endpoints.PAY_WORKER, lambda statics: statics.pay_worker)
_serve_prepared(endpoints.PAY_CONFIRM, lambda statics: statics.pay_confirm)
_serve_prepared(endpoints.PAY_CONFIRM_SCRIPT, lambda statics: statics.pay_confirm_script)
_serve_prepared(endpoints.PAY_CONFIRM_STYLE, lambda statics: statics.pay_confirm_style)
_serve_prepared(endpoints.PAY_ICON, lambda statics: statics.pay_icon)
_serve_prepared(endpoints.PAY_MANIFEST, lambda statics: statics.pay_manifest)
_serve_prepared(endpoints.PAY_METHOD, lambda statics: statics.pay_method)


@serves_plainly(endpoints.WELL_KNOWN_PAYMENT_METHOD)
async def well_known_payment_method(_service: Service, _request: Request) -> Response:
    """GET /.well-known/payment-method-manifest."""
    return Response(302, [("location", "/pay/payment-method.json"), ANY_ORIGIN, EXPOSED], b"")


@serves_plainly(endpoints.OPENAPI)
async def openapi(_service: Service, request: Request) -> Response:
    """GET /openapi.json."""
    return _openapi().answer(request)


@serves_plainly(endpoints.DOCS)
async def docs(_service: Service, request: Request) -> Response:
    """GET /docs."""
    return _docs().answer(request)


@cache
def _openapi() -> StaticAnswer:
    # Written on the first request: a start must not wait for it.
    return StaticAnswer(document(endpoints.ENDPOINTS), _JSON, _FILE_CACHE)


@cache
def _docs() -> StaticAnswer:
    return StaticAnswer(page(endpoints.ENDPOINTS), _HTML, _FILE_CACHE, [("content-security-policy", _DOCS_POLICY)])

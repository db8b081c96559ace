"""The payment handler's files and the contract set, each read once into a response."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from holdfast.service.http.messages import cached_json
from holdfast.service.http.static import StaticAnswer
from holdfast.service.web.client_files import ClientFiles, client_files
from holdfast.wire.models import RelatedOrigins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.service.web.page_files import PageFiles
    from holdfast.wire.models import Answer, ContractSet

CONTRACTS_CACHE = "public, max-age=86400"
FILE_CACHE = "public, max-age=300"
HTML = "text/html; charset=utf-8"
JSON = "application/json"
_SCRIPT = "text/javascript; charset=utf-8"
PAY_LINK = '</pay/manifest.json>; rel="payment-method-manifest"'
# The shop's page loads the icon, so it must be allowed across origins.
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


@dataclass(frozen=True, slots=True)
class PreparedFiles:
    """All static responses, by name."""

    contracts: StaticAnswer
    pay: StaticAnswer
    pay_worker: StaticAnswer
    pay_confirm: StaticAnswer
    pay_confirm_script: StaticAnswer
    pay_confirm_style: StaticAnswer
    pay_icon: StaticAnswer
    pay_manifest: StaticAnswer
    pay_method: StaticAnswer
    client: ClientFiles
    related_origins: StaticAnswer
    pages: PageFiles | None


def prepare(
    contracts: ContractSet, related_origins: Sequence[str] = (), pages: PageFiles | None = None
) -> PreparedFiles:
    """Read all files and make their responses. Without `pages` the service has none."""
    return PreparedFiles(
        contracts=_json(contracts, CONTRACTS_CACHE),
        pay=_file("pay.html", HTML, [("link", PAY_LINK), *_PAGE_HEADERS]),
        pay_worker=_file("sw.js", _SCRIPT, [("service-worker-allowed", "/pay/")]),
        pay_confirm=_file("confirm.html", HTML, _PAGE_HEADERS),
        pay_confirm_script=_file("confirm.js", _SCRIPT),
        pay_confirm_style=_file("confirm.css", "text/css; charset=utf-8"),
        pay_icon=_file("icon.svg", "image/svg+xml", [_CROSS_ORIGIN]),
        pay_manifest=_file("manifest.json", JSON, [_CROSS_ORIGIN]),
        pay_method=_file("payment-method.json", JSON),
        client=client_files(),
        related_origins=_json(RelatedOrigins(origins=list(related_origins)), FILE_CACHE),
        pages=pages,
    )


def _json(value: Answer, cache_control: str) -> StaticAnswer:
    return StaticAnswer(cached_json(value, cache_control).body, JSON, cache_control)


def _file(name: str, content_type: str, extra: Sequence[tuple[str, str]] = ()) -> StaticAnswer:
    body = (files("holdfast.service") / "static" / "pay" / name).read_bytes()
    return StaticAnswer(body, content_type, FILE_CACHE, extra)

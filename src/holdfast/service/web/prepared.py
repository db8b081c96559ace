"""The prepared responses: the payment handler's files, the contract set and others, each read only once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from holdfast.rules.chains import CHAINS, DEFAULT_CHAIN_ID, Chain
from holdfast.rules.crawlers import robots_text
from holdfast.service.http.messages import cached_json
from holdfast.service.http.static import StaticAnswer
from holdfast.service.web.client_files import ClientFiles, client_files
from holdfast.service.web.page_files import VARIES, InLanguages, reached
from holdfast.wire.models import RelatedOrigins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.service.web.page_files import PageFiles
    from holdfast.wire.models import Answer, ContractSet

CONTRACTS_CACHE = "public, max-age=86400"
FILE_CACHE = "public, max-age=300"
# The page and the client's modules must have the same version, so each is revalidated on every use.
_PAGE_CACHE = "no-cache"
HTML = "text/html; charset=utf-8"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
SCRIPT = "text/javascript; charset=utf-8"
PAY_LINK = '</pay/manifest.json>; rel="payment-method-manifest"'
# A shop's page loads the icon, so cross-origin use must be allowed.
_CROSS_ORIGIN = ("cross-origin-resource-policy", "cross-origin")
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src {reached};"
    " worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types hf"
)
# What /pay says to a person who opens it.
_PAY = {
    "en": (
        "Pay with Holdfast",
        (
            "This address is a payment method. A shop names it in a Payment Request; the browser then opens a page that"
            " shows shop, payee, amount, chain and fee. Your passkey approves the payment."
        ),
    ),
    "de": (
        "Mit Holdfast zahlen",
        (
            "Dies ist eine Zahlungsmethode. Ein Shop nennt sie in einem Payment Request; dann öffnet der"
            " Browser eine Seite, die Shop, Empfänger, Betrag, Chain und Gebühr zeigt."
            " Ihr Passkey gibt die Zahlung frei."
        ),
    ),
}
_NAME = "Holdfast"
_THEME = '\n  <link rel="stylesheet" href="/theme.css">'
_PAGE_HEADERS = (
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "publickey-credentials-get=(self), payment=(), camera=(), geolocation=(), microphone=()"),
)


@dataclass(frozen=True, slots=True)
class PaymentFacts:
    """The facts that the payment page needs about its chain and its service.

    Attributes:
        chain: the main chain. From its `public_rpc`, an account that pays its own gas reads the gas price.
        did: the service's own DID, the audience of the tokens with which a vault uploads snapshots.
    """

    chain: Chain = CHAINS[DEFAULT_CHAIN_ID]
    did: str = ""


@dataclass(frozen=True, slots=True)
class PreparedFiles:
    """All static responses, by name."""

    contracts: StaticAnswer
    pay: InLanguages
    pay_worker: StaticAnswer
    pay_confirm: StaticAnswer
    pay_confirm_script: StaticAnswer
    pay_confirm_style: StaticAnswer
    pay_icon: StaticAnswer
    pay_manifest: StaticAnswer
    pay_method: StaticAnswer
    client: ClientFiles
    related_origins: StaticAnswer
    robots: StaticAnswer
    favicon: StaticAnswer
    pages: PageFiles | None


def prepare(
    contracts: ContractSet,
    related_origins: Sequence[str] = (),
    payments: PaymentFacts | None = None,
    pages: PageFiles | None = None,
) -> PreparedFiles:
    """Read all files, and prepare a response for each. Without `pages`, the service has no pages for people."""
    page_headers = _page_headers(payments or PaymentFacts())
    return PreparedFiles(
        contracts=_json(contracts, CONTRACTS_CACHE),
        pay=_pay_page([("link", PAY_LINK), VARIES, *page_headers], pages),
        pay_worker=_file("sw.js", SCRIPT, [("service-worker-allowed", "/pay/")]),
        pay_confirm=_confirm_page(payments or PaymentFacts(), page_headers, pages),
        pay_confirm_script=_file("confirm.js", SCRIPT),
        pay_confirm_style=_file("confirm.css", "text/css; charset=utf-8"),
        pay_icon=pages.picture.answer("cross-origin") if pages else _file("icon.svg", "image/svg+xml", [_CROSS_ORIGIN]),
        pay_manifest=_manifest(pages),
        pay_method=_file("payment-method.json", JSON),
        client=client_files(),
        related_origins=_json(RelatedOrigins(origins=list(related_origins)), FILE_CACHE),
        robots=StaticAnswer(robots_text(pages=pages is not None).encode(), TEXT, FILE_CACHE),
        favicon=pages.logo if pages else _file("icon.svg", "image/svg+xml"),
        pages=pages,
    )


def _page_headers(payments: PaymentFacts) -> list[tuple[str, str]]:
    return [
        ("content-security-policy", _PAGE_POLICY.format(reached=reached(payments.chain.shown_rpc))),
        *_PAGE_HEADERS,
    ]


def _pay_page(headers: Sequence[tuple[str, str]], pages: PageFiles | None) -> InLanguages:
    template, languages = Template(_read("pay.html").decode()), pages.choices.languages if pages else list(_PAY)
    texts = {it: dict(zip(("heading", "lead"), _PAY[it], strict=True)) for it in languages}
    html = {it: template.substitute(texts[it], language=it).encode() for it in texts}
    return InLanguages({it: StaticAnswer(html[it], HTML, FILE_CACHE, headers) for it in html})


def _confirm_page(payments: PaymentFacts, headers: Sequence[tuple[str, str]], pages: PageFiles | None) -> StaticAnswer:
    chain = payments.chain
    shown = {"chain_id": str(chain.chain_id), "chain_name": chain.name, "usdc": chain.usdc or ""}
    values = {**shown, "test_money": "yes" if chain.test_money else "", "did": payments.did, **_look(pages)}
    escaped = {name: escape(value) for name, value in values.items()}
    html = Template(_read("confirm.html").decode()).substitute(escaped, theme=_THEME if pages else "")
    return StaticAnswer(html.encode(), HTML, _PAGE_CACHE, headers)


def _look(pages: PageFiles | None) -> dict[str, str]:
    """Return the operator's name, logo and languages; without pages, the project's name, logo and languages."""
    if pages is None:
        return {"name": _NAME, "logo": "/pay/icon.svg", "languages": ""}
    return {"name": pages.choices.name, "logo": "/logo", "languages": " ".join(pages.choices.languages)}


def _manifest(pages: PageFiles | None) -> StaticAnswer:
    """Return the payment app's manifest, with the name and logo that browsers show."""
    if pages is None or (pages.choices.name == _NAME and pages.choices.logo is None):
        return _file("manifest.json", JSON, [_CROSS_ORIGIN])
    icon = {"src": "/pay/icon.svg", "sizes": pages.picture.sizes, "type": pages.picture.media}
    choices = {"name": pages.choices.name, "short_name": pages.choices.name, "icons": [icon]}
    named = json.loads(_read("manifest.json")) | choices
    return StaticAnswer(json.dumps(named, indent=2).encode(), JSON, FILE_CACHE, [_CROSS_ORIGIN])


def _read(name: str) -> bytes:
    return (files("holdfast.service") / "static" / "pay" / name).read_bytes()


def _json(value: Answer, cache_control: str) -> StaticAnswer:
    return StaticAnswer(bytes(cached_json(value, cache_control).body), JSON, cache_control)


def _file(name: str, content_type: str, extra: Sequence[tuple[str, str]] = ()) -> StaticAnswer:
    return StaticAnswer(_read(name), content_type, FILE_CACHE, extra)

"""Renders the pages for people once, at startup: HTML with the operator's name, colour and logo, and a style sheet."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.rules.colours import Colour, lightened_for, parse_colour, text_on
from holdfast.rules.languages import preferred
from holdfast.rules.multiaddresses import websocket_origin
from holdfast.service.http.static import StaticAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from holdfast.service.http.messages import Request, Response

MAX_LOGO_BYTES = 256 * 1024
DARK_SHEET = Colour(0x1B, 0x24, 0x30)  # --sheet of pages.css in dark mode, the lightest background of links
_PNG = b"\x89PNG\r\n\x1a\n"
HTML = "text/html; charset=utf-8"
CSS = "text/css; charset=utf-8"
# Pages and style sheets must have the same version, so each is revalidated on every use (304 if unchanged).
CACHE = "no-cache"
# Pairing connects to a program on the person's own computer, which listens on a port that the system chooses.
_PAIRED = ("ws://127.0.0.1:*", "ws://localhost:*")
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:;"
    " connect-src {reached}; worker-src 'self'; manifest-src 'self'; form-action 'none'; base-uri 'none';"
    " frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types hf"
)
_PERMISSIONS = (
    "publickey-credentials-create=(self), publickey-credentials-get=(self), otp-credentials=(self), camera=(self),"
    " payment=(), geolocation=(), microphone=()"
)
SECURE_HEADERS = (
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", _PERMISSIONS),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
)
# This policy keeps scripts in an SVG logo from running when a person opens the logo's URL.
_LOGO_POLICY = ("content-security-policy", "default-src 'none'; sandbox")
_TWO_YEARS = ("strict-transport-security", "max-age=63072000")
# /connect and /move are served without Cross-Origin-Opener-Policy, which would prevent messages between a page and its
# opener.
_CUTTING = "cross-origin-opener-policy"
# /connect asks an app's origin to which of its addresses answers may be sent (browser/src/connect/declared.ts); /move
# asks the service to which a person moves.
_APPS = ("https:", "http://localhost:*", "http://*.localhost:*", "http://127.0.0.1:*")
# What a page shows before its script runs: heading and first sentence.
_START = {
    "en": ("Your own identity, kept by you", "Register with your face, fingerprint or screen lock. No password."),
    "de": (
        "Ihre Identität, von Ihnen selbst verwahrt",
        "Registrieren Sie sich mit Gesicht, Fingerabdruck oder Bildschirmsperre. Ohne Passwort.",
    ),
}
_VAULT = {
    "en": ("Your vault", "Open it with your passkey."),
    "de": ("Ihr Tresor", "Öffnen Sie ihn mit Ihrem Passkey."),
}
_CONNECT = {
    "en": ("Connect with an app", "Waiting for the app’s request."),  # noqa: RUF001 - typographic, as in the texts
    "de": ("Mit einer App verbinden", "Warten auf die Anfrage der App."),
}
_MOVE = {
    "en": ("Move to another service", "Take your vault, your name and a new passkey with you."),
    "de": ("Zu einem anderen Dienst umziehen", "Nehmen Sie Tresor, Namen und einen neuen Passkey mit."),
}
_NO_SCRIPT = {
    "en": "This page needs JavaScript. Your keys are made and used in this browser.",
    "de": "Diese Seite braucht JavaScript. Ihre Schlüssel entstehen in diesem Browser und werden hier benutzt.",
}
_LINKS = {
    "en": {"imprint": "Imprint", "privacy": "Privacy", "help": "Help"},
    "de": {"imprint": "Impressum", "privacy": "Datenschutz", "help": "Hilfe"},
}
VARIES = ("vary", "Accept-Language")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChoices:
    """The operator's choices for the pages.

    Attributes:
        name: the service's name, as shown to people.
        colour: `#rrggbb`, readable on white.
        logo: an SVG or PNG file; by default the project's logo.
        address: the service's public URL, where passkeys work.
        did: the service's own DID, the audience of the tokens with which the pages' vaults upload snapshots.
        rpc: the chain's public JSON-RPC URL, from which an account that pays its own gas reads the gas price.
        other_rpcs: those of the further chains on which accounts pay and change.
        chain_id: the service's chain.
        usdc: the address of USDC on the service's chain; empty if it has none.
        test_money: whether the chain's coin and tokens have no value.
        languages: the pages' languages; the first is used if a browser prefers none of them.
        code_seconds: how long a code sent by mail is valid.
        code_tries: how many times a code may be tried.
        pairing: the multiaddress of the server through which two browsers connect; empty without one.
        faucet: the URL that gives test USDC; empty outside the local world.
        channels: the kinds of identifiers that people may register.
        registration: who may register: open, invitation or closed.
        links: the addresses of the operator's imprint, privacy notice and help, by these names.
    """

    name: str
    colour: str
    logo: Path | None
    address: str
    did: str
    rpc: str
    chain_id: int
    usdc: str
    test_money: bool
    languages: tuple[str, ...]
    code_seconds: int
    code_tries: int
    other_rpcs: tuple[str, ...] = ()
    pairing: str = ""
    faucet: str = ""
    channels: tuple[str, ...] = ("handle", "email", "sms")
    registration: str = "open"
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Picture:
    """A logo and its media type, which is SVG or PNG."""

    body: bytes
    media: str

    @property
    def sizes(self) -> str:
        """The width and height in the form used by web app manifests; "any" for SVG."""
        if self.media != "image/png":
            return "any"
        width, height = int.from_bytes(self.body[16:20]), int.from_bytes(self.body[20:24])  # PNG, section 11.2.1: IHDR
        return f"{width}x{height}"

    def answer(self, whose: str) -> StaticAnswer:
        """Return the response with the logo. `whose` pages may show it: "same-origin" or "cross-origin"."""
        return StaticAnswer(self.body, self.media, CACHE, [_LOGO_POLICY, ("cross-origin-resource-policy", whose)])


@dataclass(frozen=True, slots=True)
class InLanguages:
    """A page in each of the operator's languages."""

    answers: Mapping[str, StaticAnswer]

    async def serve(self, request: Request) -> Response:
        """Return the page in the language that the browser prefers, or 304 if it has that page."""
        return await self._wanted(request).serve(request)

    def answer(self, request: Request) -> Response:
        """Return what `serve` returns, but do not compress a body that is not compressed yet."""
        return self._wanted(request).answer(request)

    def _wanted(self, request: Request) -> StaticAnswer:
        return self.answers[preferred(request.header("accept-language"), list(self.answers))]


@dataclass(frozen=True, slots=True)
class PageFiles:
    """The responses of all pages, by name, and the operator's choices for the pages."""

    choices: PageChoices
    start: InLanguages
    vault: InLanguages
    connect: InLanguages
    move: InLanguages
    style: StaticAnswer
    theme: StaticAnswer
    logo: StaticAnswer
    picture: Picture


def page_files(choices: PageChoices) -> PageFiles:
    """Render the pages. Raises ValueError for a logo that cannot be used."""
    picture = _logo(choices.logo)
    with_others = [it for it in SECURE_HEADERS if it[0] != _CUTTING]
    return PageFiles(
        choices=choices,
        start=_pages(choices, _START),
        vault=_pages(choices, _VAULT),
        connect=_pages(choices, _CONNECT, script="connect", asks=_APPS, headers=with_others),
        move=_pages(choices, _MOVE, script="move", asks=_APPS, headers=with_others),
        style=StaticAnswer(_read("pages.css"), CSS, CACHE),
        theme=StaticAnswer(theme(parse_colour(choices.colour)).encode(), CSS, CACHE),
        logo=picture.answer("same-origin"),
        picture=picture,
    )


def theme(colour: Colour) -> str:
    """Return the style sheet with the operator's colour, for light and dark mode."""
    dark = lightened_for(DARK_SHEET, colour)
    return (
        f":root {{ --brand: {colour}; --on-brand: {text_on(colour)}; }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ --brand: {dark}; --on-brand: {text_on(dark)}; }} }}\n"
    )


def _pages(
    choices: PageChoices,
    said: Mapping[str, tuple[str, str]],
    *,
    script: str = "main",
    asks: Sequence[str] = (),
    headers: Sequence[tuple[str, str]] = SECURE_HEADERS,
) -> InLanguages:
    secured = [_TWO_YEARS] if choices.address.startswith("https:") else []
    all_headers = [_policy(choices, asks), *headers, *secured, VARIES]
    pages = {language: _html(choices, language, said[language], script) for language in choices.languages}
    return InLanguages({name: StaticAnswer(html, HTML, CACHE, all_headers) for name, html in pages.items()})


def _html(choices: PageChoices, language: str, said: tuple[str, str], script: str) -> bytes:
    heading, lead = said
    values = {
        "language": language,
        "no_script": _NO_SCRIPT[language],
        "name": choices.name,
        "address": choices.address,
        "did": choices.did,
        "chain_id": str(choices.chain_id),
        "usdc": choices.usdc,
        "test_money": "yes" if choices.test_money else "",
        "languages": " ".join(choices.languages),
        "code": f"{choices.code_seconds} {choices.code_tries}",
        "pairing": choices.pairing,
        "faucet": choices.faucet,
        "channels": " ".join(choices.channels),
        "registration": choices.registration,
        "heading": heading,
        "lead": lead,
        "script": script,
    }
    escaped = {name: escape(value) for name, value in values.items()}
    html = Template(_read("page.html").decode()).substitute(escaped, links=_links(choices, language))
    return html.encode()


def _links(choices: PageChoices, language: str) -> str:
    """Return the operator's links as HTML, which works without scripts; nothing without links."""
    links = "".join(
        f'<a href="{escape(address)}" data-link="{name}">{_LINKS[language][name]}</a>'
        for name, address in choices.links.items()
    )
    return f'<div id="links">{links}</div>' if links else ""


def _policy(choices: PageChoices, asks: Sequence[str]) -> tuple[str, str]:
    met = [websocket_origin(choices.pairing)] if choices.pairing else []
    given = [_origin(choices.faucet)] if choices.faucet and _origin(choices.faucet) != _origin(choices.rpc) else []
    others = {_origin(rpc): None for rpc in choices.other_rpcs if _origin(rpc) != _origin(choices.rpc)}
    allowed = " ".join([reached(choices.rpc), *others, *given, *_PAIRED, *met, *asks])
    return "content-security-policy", _POLICY.format(reached=allowed)


def reached(rpc: str) -> str:
    """Return the `connect-src` of pages that pay: this service, and the origin of the chain's JSON-RPC URL if known."""
    return f"'self' {_origin(rpc)}" if urlsplit(rpc).scheme in {"http", "https"} else "'self'"


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _logo(file: Path | None) -> Picture:
    body = _given(file) if file else (files("holdfast.service") / "static" / "pay" / "icon.svg").read_bytes()
    return Picture(body, "image/png" if body.startswith(_PNG) else "image/svg+xml")


def _given(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            body = opened.read(MAX_LOGO_BYTES + 1)
    except OSError as error:
        raise ValueError(f"the file cannot be read ({error.strerror})") from error
    if len(body) > MAX_LOGO_BYTES:
        raise ValueError(f"the file has more than {MAX_LOGO_BYTES // 1024} KiB")
    if not body.startswith(_PNG) and b"<svg" not in body[:1024]:
        raise ValueError("the file is neither SVG nor PNG")
    return body


def _read(name: str) -> bytes:
    return (files("holdfast.service") / "static" / "pages" / name).read_bytes()

"""The operators' page on the admin port: HTML, style sheets, logo, and the client's files with its script."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from holdfast.rules.colours import parse_colour
from holdfast.service.http.messages import Response
from holdfast.service.http.static import StaticAnswer
from holdfast.service.web.admin_openapi import admin_document
from holdfast.service.web.page_files import CACHE, CSS, HTML, SECURE_HEADERS, theme
from holdfast.wire.admin_endpoints import ADMIN_DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.service.http.messages import Request
    from holdfast.service.web.client_files import ClientFiles

PAGE = "/admin"
_CLIENT = f"{PAGE}/client/"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none';"
    " base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


class AdminPage:
    """Responds with the page's files. They are the same for everyone: what the page shows needs a key."""

    def __init__(
        self, name: str, colour: str, languages: Sequence[str], client: ClientFiles, logo: StaticAnswer
    ) -> None:
        self._client = client
        values = {"name": escape(name), "languages": " ".join(languages)}
        html = Template(_read("admin.html").decode()).substitute(values).encode()
        headers = [("content-security-policy", _POLICY), *SECURE_HEADERS]
        self._files = {
            PAGE: StaticAnswer(html, HTML, CACHE, headers),
            f"{PAGE}/pages.css": StaticAnswer(_read("pages.css") + _read("admin.css"), CSS, CACHE),
            f"{PAGE}/theme.css": StaticAnswer(theme(parse_colour(colour)).encode(), CSS, CACHE),
            f"{PAGE}/logo": logo,
            ADMIN_DOCUMENT: StaticAnswer(admin_document(), "application/json", CACHE),
        }

    async def respond(self, request: Request) -> Response | None:
        """Return a file; None if it does not exist."""
        if request.path == f"{PAGE}/":
            return Response(308, [("location", PAGE)], b"")
        found = self._files.get(request.path)
        if found is None and request.path.startswith(_CLIENT):
            found = self._client.file(request.path.removeprefix(_CLIENT))
        return None if found is None else await found.serve(request)


def _read(name: str) -> bytes:
    return (files("holdfast.service") / "static" / "pages" / name).read_bytes()

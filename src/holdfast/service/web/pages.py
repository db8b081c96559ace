"""Serves the pages for people, their styles and the logo.

If HOLDFAST_PAGES is off, these paths have no routes (`application`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.http.messages import error_response
from holdfast.service.web.serving import serves_plainly
from holdfast.wire import endpoints
from holdfast.wire.errors import NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.service.http.messages import Request, Response
    from holdfast.service.http.static import StaticAnswer
    from holdfast.service.web.context import WebContext
    from holdfast.service.web.page_files import InLanguages, PageFiles
    from holdfast.wire.endpoints import Endpoint
    from holdfast.wire.requests import Input


def _serve(endpoint: Endpoint[Input], choose: Callable[[PageFiles], StaticAnswer | InLanguages]) -> None:
    @serves_plainly(endpoint)
    async def answer(web: WebContext, request: Request) -> Response:
        pages = web.files.pages
        return await choose(pages).serve(request) if pages else error_response(NOT_FOUND)


_serve(endpoints.START_PAGE, lambda pages: pages.start)
_serve(endpoints.VAULT_PAGE, lambda pages: pages.vault)
_serve(endpoints.CONNECT_PAGE, lambda pages: pages.connect)
_serve(endpoints.MOVE_PAGE, lambda pages: pages.move)
_serve(endpoints.PAGES_STYLE, lambda pages: pages.style)
_serve(endpoints.PAGES_THEME, lambda pages: pages.theme)
_serve(endpoints.PAGES_LOGO, lambda pages: pages.logo)

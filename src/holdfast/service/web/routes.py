"""The routes, with paths, methods and handlers, derived from the declared endpoints."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

# Importing these modules registers their handlers.
from holdfast.service.web import (
    accounts,
    dids,
    files,
    gateway,
    health,
    names,
    pages,
    persons,
    pins,
    proxies,
    recovery,
    resolution,
    sessions,
    uploads,
    verification,
    workflow,
)
from holdfast.service.web.serving import HANDLERS
from holdfast.wire.endpoints import ENDPOINTS, PAGES, WORKFLOW, ErrorForm

if TYPE_CHECKING:
    from holdfast.service.web.serving import Handler

_REST = re.compile(r"{\w+}$")
# Requests to the workflow's path go to its handler, whatever their method (interface: ANY /api/workflow).
ANY_METHOD = {WORKFLOW.path: HANDLERS[WORKFLOW.key]}
PAGE_PATHS = frozenset(endpoint.path for endpoint in PAGES)  # no routes where HOLDFAST_PAGES is off


@dataclass(frozen=True, slots=True)
class Route:
    """A path and its handlers; `declared` is the path with the placeholders of its endpoints."""

    declared: str
    path: str
    handlers: dict[str, Handler]
    any_other: Handler | None = None  # handles the methods that are not a listed, except OPTIONS
    errors_as: ErrorForm = ErrorForm.HOLDFAST
    of_snapshots: bool = False

    def handler_of(self, method: str) -> Handler | None:
        """Return the handler for a method; None if the application responds itself."""
        return self.handlers.get(method) or (None if method == "OPTIONS" else self.any_other)

    @property
    def allowed(self) -> str:
        """Return the value of the Allow header."""
        return ", ".join([*self.handlers, "OPTIONS"])


def _routes() -> list[Route]:
    by_path: dict[str, Route] = {}
    for endpoint in ENDPOINTS:
        path = endpoint.path
        made = Route(path, path, {}, ANY_METHOD.get(path), endpoint.errors_as, endpoint.of_snapshots)
        handlers = by_path.setdefault(path, made).handlers
        handlers[endpoint.method] = HANDLERS[endpoint.key]
        if endpoint.method == "GET":
            handlers["HEAD"] = handlers["GET"]
    return list(by_path.values())


_ALL = _routes()
ROUTES: tuple[Route, ...] = tuple(route for route in _ALL if not _REST.search(route.path))
PREFIX_ROUTES: tuple[Route, ...] = tuple(
    replace(route, path=_REST.sub("", route.path)) for route in _ALL if _REST.search(route.path)
)

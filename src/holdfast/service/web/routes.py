"""The routes, derived from the declared endpoints: paths, methods, handlers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.service.web import accounts, dids, files, health, pages, proxies, sessions, verification, workflow
from holdfast.service.web.serving import HANDLERS
from holdfast.wire.endpoints import ENDPOINTS, PAGES, WORKFLOW

if TYPE_CHECKING:
    from holdfast.service.web.serving import Handler

# Importing a module registers its handlers.
SERVING = (accounts, dids, files, health, pages, proxies, sessions, verification, workflow)
_REST = "{path}"
# All methods of the workflow's path go to its handler (interface: ANY /api/workflow).
ANY_METHOD = {WORKFLOW.path: HANDLERS[WORKFLOW.key]}
PAGE_PATHS = frozenset(endpoint.path for endpoint in PAGES)  # no routes where HOLDFAST_PAGES is off


@dataclass(frozen=True, slots=True)
class Route:
    """One path and its handlers."""

    path: str
    handlers: dict[str, Handler]
    any_other: Handler | None = None  # answers the methods that are not listed, except OPTIONS

    def handler_of(self, method: str) -> Handler | None:
        """Return the handler of a method; None if the application answers it."""
        return self.handlers.get(method) or (None if method == "OPTIONS" else self.any_other)

    @property
    def allowed(self) -> str:
        """The value of the Allow header."""
        return ", ".join([*self.handlers, "OPTIONS"])


def _routes() -> list[Route]:
    by_path: dict[str, dict[str, Handler]] = {}
    for endpoint in ENDPOINTS:
        handlers = by_path.setdefault(endpoint.path, {})
        handlers[endpoint.method] = HANDLERS[endpoint.key]
        if endpoint.method == "GET":
            handlers["HEAD"] = handlers["GET"]
    return [Route(path, handlers, ANY_METHOD.get(path)) for path, handlers in by_path.items()]


_ALL = _routes()
ROUTES: tuple[Route, ...] = tuple(route for route in _ALL if not route.path.endswith(_REST))
PREFIX_ROUTES: tuple[Route, ...] = tuple(
    Route(route.path.removesuffix(_REST), route.handlers) for route in _ALL if route.path.endswith(_REST)
)

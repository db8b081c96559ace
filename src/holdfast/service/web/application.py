"""From request to response: route, handler, refusal, and the headers of every response."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING

from holdfast.service.housekeeping import periodic
from holdfast.service.http.messages import (
    ANY_ORIGIN,
    BODILESS,
    ClientGone,
    Response,
    error_response,
    length_missing,
    named,
    refusal,
)
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.web.failures import failed, failure_response
from holdfast.service.web.routes import PAGE_PATHS, PREFIX_ROUTES, ROUTES, Route
from holdfast.wire.endpoints import ErrorForm
from holdfast.wire.errors import (
    BODY_TOO_LARGE,
    DATABASE_UNAVAILABLE,
    INTERNAL_ERROR,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    REQUEST_TIMEOUT,
    Refused,
)
from holdfast.wire.failures import WRONG_METHOD, SnapshotRefused

if TYPE_CHECKING:
    import asyncio

    from holdfast.service.http.messages import Request
    from holdfast.service.metrics import Metrics
    from holdfast.service.web.context import WebContext

_log = logging.getLogger("holdfast.web")
_MAX_REQUEST_ID = 128
_PREFLIGHT_AGE_S = 86400
MEASURE_EVERY_S = 60.0
# Without credentials `*` means every header but Authorization (Fetch, section 3.3.3); gateways name theirs.
_SNAPSHOT_HEADERS = "*, Authorization, Content-Type, Range, User-Agent, X-Requested-With"
_NOT_FOUND = error_response(NOT_FOUND)
# After these errors the rest of a body may still arrive, so the connection must be closed.
_CLOSING = frozenset({BODY_TOO_LARGE, REQUEST_TIMEOUT})


class Application:
    """Answers every request. Raises only if the client has disconnected."""

    def __init__(self, web: WebContext, metrics: Metrics | None = None) -> None:
        self._web = web
        self.service = web.service
        self._metrics = metrics
        absent = PAGE_PATHS if web.files.pages is None else ()
        served = [
            route
            for route in (*ROUTES, *PREFIX_ROUTES)
            if route.path not in absent and (web.service.snapshots or not route.of_snapshots)
        ]
        self._routes = {route.path: route for route in served if route in ROUTES}
        self._measuring: asyncio.Task[None] | None = None
        self._prefixes = [route for route in served if route in PREFIX_ROUTES]

    async def start(self) -> None:
        """Start the service."""
        await self.service.start()
        if self._metrics is not None and self.service.snapshots is not None:
            self._measuring = periodic("snapshot metrics", MEASURE_EVERY_S, self._measure)

    async def stop(self) -> None:
        """Close it, when the last accepted request was answered."""
        if self._measuring is not None:
            self._measuring.cancel()
        await self.service.stop()

    async def respond(self, request: Request) -> Response:
        """Return the response to one request, with its request ID."""
        started = time.perf_counter() if self._metrics else 0.0
        request_id = _request_id(request)
        route = self._routes.get(request.path) or self._elsewhere(request.path)
        handler = route.handler_of(request.method) if route else None
        try:
            response = await handler(self._web, request) if handler else _without_handler(route, request.method)
        except ClientGone:
            raise
        except Exception as error:  # noqa: BLE001 - the last resort: a 500 without details, and a log entry
            response = _failed(error, route, request_id)
        if self._metrics:
            path, method = _labels(route, request.method)
            self._metrics.observe(path, method, response.status, time.perf_counter() - started)
        if request.method == "HEAD" and response.status not in BODILESS:
            return _headed(response, request_id)
        return named(response, request_id)

    async def _measure(self) -> None:
        assert self._metrics is not None
        assert self.service.snapshots is not None
        self._metrics.report_snapshots(*await self.service.snapshots.index.totals())

    def _elsewhere(self, path: str) -> Route | None:
        """The route of a path below a route's; clients given an endpoint with a slash at its end ask for `//pins`."""
        if path.startswith("//pins"):
            path = path[1:]
            if path in self._routes:
                return self._routes[path]
        for route in self._prefixes:
            if path.startswith(route.path):
                return route
        return None


def _headed(response: Response, request_id: str) -> Response:
    """The answer to HEAD: the length of the body that GET would send, and no body."""
    if length_missing(response):
        headers = [*response.headers, ("content-length", str(len(response.body)))]
        return Response(response.status, headers, b"", request_id)
    return Response(response.status, response.headers, b"", request_id)


def _labels(route: Route | None, method: str) -> tuple[str, str]:
    """Return path and method for metrics: nothing that a client chose freely."""
    if route is None:
        return "unknown", "other"
    return route.path, method if method in route.handlers else "other"


def _without_handler(route: Route | None, method: str) -> Response:
    if route is None:
        return _NOT_FOUND
    if method == "OPTIONS":
        return _preflight(route)
    if route.errors_as is not ErrorForm.HOLDFAST:
        return failure_response(SnapshotRefused(WRONG_METHOD), route.errors_as, [("allow", route.allowed)])
    return _method_not_allowed(route)


def _failed(error: Exception, route: Route | None, request_id: str) -> Response:
    """What a handler's exception answers."""
    if route is not None and route.errors_as is not ErrorForm.HOLDFAST:
        return failed(error, route.errors_as, {"request_id": request_id, "route": route.path})
    if isinstance(error, Refused):
        answer = refusal(error)
        if error.row in _CLOSING:
            return Response(answer.status, [*answer.headers, ("connection", "close")], answer.body)
        return answer
    place = {"request_id": request_id, "route": route.path if route else ""}
    if isinstance(error, StoreUnavailable):
        _log.error("store unavailable", extra={**place, "why": str(error)})
        return error_response(DATABASE_UNAVAILABLE, [("retry-after", "1")])
    _log.error("request failed", extra=place, exc_info=error)
    return error_response(INTERNAL_ERROR)


def _request_id(request: Request) -> str:
    given = request.header("x-request-id")
    if given and len(given) <= _MAX_REQUEST_ID and given.isascii() and given.isprintable() and " " not in given:
        return given
    if not _ids:
        _draw_ids()
    return _ids.pop()


_IDS_DRAWN = 256
_ids: list[str] = []  # one system call for each would cost more than the routing


def _draw_ids() -> None:
    digits = os.urandom(8 * _IDS_DRAWN).hex()
    _ids.extend(digits[start : start + 16] for start in range(0, len(digits), 16))


os.register_at_fork(after_in_child=_ids.clear)  # otherwise two processes would generate the same IDs


def _preflight(route: Route) -> Response:
    headers = [
        ANY_ORIGIN,
        ("access-control-allow-methods", route.allowed),
        ("access-control-allow-headers", _SNAPSHOT_HEADERS if route.of_snapshots else "*"),
        ("access-control-max-age", str(_PREFLIGHT_AGE_S)),
        ("allow", route.allowed),
    ]
    return Response(204, headers, b"")


def _method_not_allowed(route: Route) -> Response:
    return error_response(METHOD_NOT_ALLOWED, [("allow", route.allowed)])

"""Responds to requests: finds the route, calls the handler, converts refusals, and adds the common headers."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from holdfast.chain.errors import RpcError, chain_words
from holdfast.rules.requests import is_foreign_page, is_host_clear, is_length_clear
from holdfast.service.http.large_responses import LaterResponse, LimitedResponse, body_bytes, is_large
from holdfast.service.http.messages import (
    ANY_ORIGIN,
    BODILESS,
    ClientGone,
    Response,
    error_response,
    length_missing,
    refusal,
)
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.telemetry import metrics, tracing
from holdfast.service.web.failures import failed, failure_response
from holdfast.service.web.routes import PAGE_PATHS, PREFIX_ROUTES, ROUTES, Route
from holdfast.wire.endpoints import ADD_ADDRESS, EXPORT_PERSON, REGISTER_DID, REMOVE_OF_PERSON, ErrorForm
from holdfast.wire.errors import (
    AMBIGUOUS_REQUEST,
    BODY_TOO_LARGE,
    DATABASE_UNAVAILABLE,
    FOREIGN_PAGE,
    INTERNAL_ERROR,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    REQUEST_TIMEOUT,
    RPC_ERROR,
    Refused,
)
from holdfast.wire.failures import WRONG_METHOD, SnapshotRefused
from holdfast.wire.request_ids import REQUEST_ID, draw_request_id, is_well_formed

if TYPE_CHECKING:
    from holdfast.service.http.messages import Request
    from holdfast.service.http.relaying import RelayServer
    from holdfast.service.web.context import WebContext
    from holdfast.wire.errors import ErrorRow

_log = logging.getLogger("holdfast.web")
_access = logging.getLogger("holdfast.access")
_PREFLIGHT_AGE_S = 86400
# In requests without credentials, `*` allows every header but Authorization (Fetch, section 3.3.3). The headers listed
# after `*` are those that IPFS gateways list.
_SIGNED_HEADERS = "*, Authorization"
_SIGNED_PATHS = frozenset({REGISTER_DID.path, EXPORT_PERSON.path, REMOVE_OF_PERSON.path, ADD_ADDRESS.path})
_SNAPSHOT_HEADERS = "*, Authorization, Content-Type, Range, User-Agent, X-Requested-With"
_NOT_FOUND = error_response(NOT_FOUND)
_TRACE_HEADERS = ("traceparent", "tracestate")  # W3C Trace Context
_SERVER_ERRORS = 500
_TOO_MANY = 429
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_CLOSED = [("connection", "close")]
# After these errors the rest of the request's body may still arrive, so the connection must be closed.
_CLOSING = frozenset({BODY_TOO_LARGE, REQUEST_TIMEOUT})


class Application:
    """Responds to every request. Raises only if the client has disconnected."""

    def __init__(self, web: WebContext, *, access_log: bool = False) -> None:
        self.web = web
        self.service = web.service
        self.files = web.files
        self.relay: RelayServer | None = None  # if the admin port is served
        self._observers = [
            *([metrics.ANSWERED.add] if metrics.enabled() else []),
            *([_log_access] if access_log else []),
        ]
        absent = PAGE_PATHS if web.files.pages is None else ()
        served = [
            route
            for route in (*ROUTES, *PREFIX_ROUTES)
            if route.path not in absent and (web.service.snapshots or not route.of_snapshots)
        ]
        self._routes = {route.path: route for route in served if route in ROUTES}
        self._prefixes = [route for route in served if route in PREFIX_ROUTES]

    async def start(self) -> None:
        """Start the service."""
        await self.service.start()
        if self.relay is not None:
            try:
                await self.relay.start()
            except OSError as error:  # people's requests matter more
                _log.error("the admin port has no access to this process", extra={"why": str(error)})

    async def stop(self) -> None:
        """Stop the service after the last accepted request has been completed."""
        if self.relay is not None:
            await self.relay.stop()
        await self.service.stop()

    async def respond(self, request: Request) -> tuple[Response, str]:
        """Return the response to one request, which other requests may share, and the request's ID."""
        request_id = _request_id(request)
        token = REQUEST_ID.set(request_id)
        route = self._routes.get(request.path) or self._elsewhere(request.path)
        answer = self._answer if tracing.backend() is None else self._traced
        observers = self._observers  # observed here, because a separate coroutine would cost more
        if observers:
            metrics.ANSWERED.in_progress += 1
            started = time.perf_counter()
        try:
            response = await answer(request, route, request_id)
            if request.method == "HEAD" and response.status not in BODILESS:
                response = _headed(response)
            elif is_large(response, request.version):
                response = await self._placed(request, response, route, request_id)
            if observers:
                path, method = _labels(route, request.method)
                seconds = time.perf_counter() - started
                for observe in observers:
                    observe(path, method, response.status, seconds)
        finally:
            if observers:
                metrics.ANSWERED.in_progress -= 1
            REQUEST_ID.reset(token)
        return response, request_id

    async def _answer(self, request: Request, route: Route | None, request_id: str) -> Response:
        if (row := self._objection(request)) is not None:
            return error_response(row, _CLOSED)
        handler = route.handler_of(request.method) if route else None
        try:
            return await handler(self.web, request) if handler else _without_handler(route, request.method)
        except ClientGone:
            raise
        except Exception as error:  # noqa: BLE001 - the last resort: a 500 without details, and a log entry
            return _failed(error, route, request_id)

    def _objection(self, request: Request) -> ErrorRow | None:
        """Return why the request is refused before anything reads it, if it is."""
        if not is_host_clear(request.header_values("host"), request.version):
            return AMBIGUOUS_REQUEST
        if request.method in _READING:
            return None
        if not is_length_clear(request.header_values("transfer-encoding"), request.header_values("content-length")):
            return AMBIGUOUS_REQUEST
        own = self.web.own_pages
        if own is not None and is_foreign_page(request.header("sec-fetch-site"), request.header("origin"), own):
            return FOREIGN_PAGE
        return None

    async def _placed(self, request: Request, response: Response, route: Route | None, request_id: str) -> Response:
        """Return a large response with a slot to be sent from, or the refusal if none exists."""
        try:
            slot = await self.web.large.slot(self.web.subject(request), body_bytes(response))
        except Refused as refused:
            _note_refusal(refused, route, request_id)
            return refusal(refused)
        try:
            response = await self._read(response, route, request_id)
        except BaseException:
            slot.leave()
            raise
        if not is_large(response, request.version):
            slot.leave()
            return response
        return LimitedResponse(response, slot, request.version)

    async def _read(self, response: Response, route: Route | None, request_id: str) -> Response:
        if type(response) is not LaterResponse:
            return response
        try:
            return await response.read()
        except Exception as error:  # noqa: BLE001 - as in _answer
            return _failed(error, route, request_id)

    async def _traced(self, request: Request, route: Route | None, request_id: str) -> Response:
        backend = tracing.backend()
        assert backend is not None
        path, method = _labels(route, request.method)
        attributes: tracing.Attributes = {
            # The path is the route's: a client's own path may name a person.
            "http.request.method": method, "http.route": path, "url.path": path, "url.scheme": self.web.scheme,
            "holdfast.request_id": request_id,
        }  # fmt: skip
        with backend.request(f"{method} {path}", self._parent(request), attributes) as span:
            response = await self._answer(request, route, request_id)
            span.note("http.response.status_code", response.status)
            if response.status >= _SERVER_ERRORS:
                span.fail(str(response.status))
        return response

    def _parent(self, request: Request) -> dict[str, str]:
        """Return the trace headers of a request that comes from a trusted proxy; none for other requests.

        A stranger could otherwise force recordings, or mix spans into an operator's traces.
        """
        given = {name: request.header(name) for name in _TRACE_HEADERS}
        if not given["traceparent"] or not self.web.client_address.is_trusted(request):
            return {}
        return {name: value for name, value in given.items() if value}

    def _elsewhere(self, path: str) -> Route | None:
        """Return the route whose path is a prefix of this path.

        Clients whose base URL ends in a slash request `//pins`.
        """
        if path.startswith("//pins"):
            path = path[1:]
            if path in self._routes:
                return self._routes[path]
        for route in self._prefixes:
            if path.startswith(route.path):
                return route
        return None


def _request_id(request: Request) -> str:
    """Return the ID that the client gave the request, or a new one if that is missing or malformed."""
    given = request.header("x-request-id")
    return given if given and is_well_formed(given) else draw_request_id()


def _headed(response: Response) -> Response:
    """Return the response to HEAD, with the length of the body that GET would send, but without the body."""
    if length_missing(response):
        headers = [*response.headers, ("content-length", str(len(response.body)))]
        return Response(response.status, headers, b"")
    return Response(response.status, response.headers, b"")


def _log_access(path: str, method: str, status: int, seconds: float) -> None:
    """Log one response, without any text that the client chose."""
    fields = {"route": path, "method": method, "status": status, "seconds": round(seconds, 6)}
    _access.info("answered", extra=fields)


def _labels(route: Route | None, method: str) -> tuple[str, str]:
    """Return the path and the method for metrics, without any text that the client chose."""
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
    """Return the response to a request whose handler raised this exception."""
    if route is not None and route.errors_as is not ErrorForm.HOLDFAST:
        return failed(error, route.errors_as, {"request_id": request_id, "route": route.path})
    if isinstance(error, Refused):
        _note_refusal(error, route, request_id)
        answer = refusal(error)
        if error.row in _CLOSING:
            return Response(answer.status, [*answer.headers, ("connection", "close")], answer.body)
        return answer
    logged = {"request_id": request_id, "route": route.path if route else ""}
    if isinstance(error, StoreUnavailable):
        _log.error("store unavailable", extra={**logged, "why": str(error)})
        return error_response(DATABASE_UNAVAILABLE, [("retry-after", "1")])
    _log.error("request failed", extra=logged, exc_info=error)
    return error_response(INTERNAL_ERROR)


def _note_refusal(refused: Refused, route: Route | None, request_id: str) -> None:
    """Count a limit that was reached, and log a failure of the chain's endpoint, which the handlers do not log."""
    if refused.row.status == _TOO_MANY:
        metrics.LIMITS_HIT.add(refused.limit or refused.row.error)
    elif refused.row is RPC_ERROR:
        cause = refused.__context__
        why = {"why": chain_words(cause)} if isinstance(cause, (RpcError, TimeoutError)) else {}
        _log.warning("chain failed", extra={"request_id": request_id, "route": route.path if route else "", **why})


def _allowed_headers(route: Route) -> str:
    if route.of_snapshots:
        return _SNAPSHOT_HEADERS
    return _SIGNED_HEADERS if route.path in _SIGNED_PATHS else "*"


def _preflight(route: Route) -> Response:
    headers = [
        ANY_ORIGIN,
        ("access-control-allow-methods", route.allowed),
        ("access-control-allow-headers", _allowed_headers(route)),
        ("access-control-max-age", str(_PREFLIGHT_AGE_S)),
        ("allow", route.allowed),
    ]
    return Response(204, headers, b"")


def _method_not_allowed(route: Route) -> Response:
    return error_response(METHOD_NOT_ALLOWED, [("allow", route.allowed)])

"""Responds to requests on the admin port: operators' tasks, and the page for them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlsplit

import msgspec

from holdfast.rules.limits import MAX_BODY_BYTES
from holdfast.rules.requests import is_foreign_page
from holdfast.service.http.messages import NO_SNIFFING, FixedHeaders, Response
from holdfast.service.operations.administration import NotFound, NotPossible
from holdfast.service.operations.operator_tasks import Rows
from holdfast.service.store.administration import KeyRevoked
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.telemetry import metrics
from holdfast.wire.admin_endpoints import ADMIN_ENDPOINTS, ADMIN_HOST_UNKNOWN, ADMIN_KEY_REFUSED, API
from holdfast.wire.csv_text import csv_of
from holdfast.wire.errors import (
    DATABASE_UNAVAILABLE,
    FOREIGN_PAGE,
    INTERNAL_ERROR,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    Refused,
)

if TYPE_CHECKING:
    from holdfast.rules.addresses import AddressHashes
    from holdfast.service.http.client_address import ClientAddress
    from holdfast.service.http.messages import Headers, Request
    from holdfast.service.operations.admin_keys import AdminKeys
    from holdfast.service.operations.operator_tasks import OperatorTasks
    from holdfast.service.web.admin_page import AdminPage
    from holdfast.wire.admin_endpoints import AdminEndpoint, AdminRequest
    from holdfast.wire.errors import ErrorRow

_log = logging.getLogger("holdfast.admin")
_ENDPOINTS = {endpoint.key: endpoint for endpoint in ADMIN_ENDPOINTS}
_PATHS = frozenset(path for _, path in _ENDPOINTS)
_MAX_QUERY_CHARACTERS, _MAX_PARAMETERS = 8 * 1024, 64
# No origin may read these: the page is of the same origin, and programs need no permission.
_COMMON = [("cache-control", "no-store"), NO_SNIFFING, ("cross-origin-resource-policy", "same-origin")]
_JSON = FixedHeaders([("content-type", "application/json"), *_COMMON])
_CSV: Headers = [
    ("content-type", "text/csv; charset=utf-8"),
    ("content-disposition", 'attachment; filename="holdfast.csv"'),
    *_COMMON,
]
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Administration:
    """Responds to every request. Nothing but its key tells who sends one, so that no page of another origin can.

    Attributes:
        hosts: the names under which operators reach the port; addresses and localhost always are.
    """

    tasks: OperatorTasks
    keys: AdminKeys
    addresses: AddressHashes
    clients: ClientAddress
    hosts: frozenset[str]
    page: AdminPage

    async def respond(self, request: Request) -> Response:
        """Return the response to one request."""
        if (row := self._objection(request)) is not None:
            return _error(row.status, row.error)
        if not request.path.startswith(API):
            return await self._file(request)
        endpoint = _ENDPOINTS.get((request.method, request.path))
        if endpoint is None:
            row = METHOD_NOT_ALLOWED if request.path in _PATHS else NOT_FOUND
            return _error(row.status, row.error)
        try:
            return await self._done(endpoint, request)
        except Exception as error:  # noqa: BLE001 - the last resort: a 500 without details, and a log entry
            return _failed(error, endpoint)

    def _objection(self, request: Request) -> ErrorRow | None:
        """Refuse pages of other origins, and names that anyone's DNS may point here (DNS rebinding)."""
        if not self._is_known(request.header("host") or ""):
            return ADMIN_HOST_UNKNOWN
        own = {f"{scheme}://{request.header('host')}" for scheme in ("http", "https")}
        return FOREIGN_PAGE if _is_foreign(request, frozenset(own)) else None

    def _is_known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name == "localhost" or name in self.hosts or _is_address(name)

    async def _file(self, request: Request) -> Response:
        if request.method != "GET":
            return _error(METHOD_NOT_ALLOWED.status, METHOD_NOT_ALLOWED.error)
        return await self.page.respond(request) or _error(NOT_FOUND.status, NOT_FOUND.error)

    async def _done(self, endpoint: AdminEndpoint, request: Request) -> Response:
        address = self.addresses.of(self.clients.subject(request))
        by = await self.keys.admit(request.header("authorization"), address, endpoint.scope)
        fields, csv = _fields(endpoint, request) if endpoint.method == "GET" else (await _body(request), False)
        task = getattr(self.tasks, endpoint.name)
        return _answer(await task(_input(endpoint, fields), by), csv=csv)


def _is_foreign(request: Request, own: frozenset[str]) -> bool:
    site = request.header("sec-fetch-site")
    navigates = request.method == "GET" and request.header("sec-fetch-mode") == "navigate"
    return not navigates and is_foreign_page(site, request.header("origin"), own)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _fields(endpoint: AdminEndpoint, request: Request) -> tuple[dict[str, Any], bool]:
    """Return a query's parameters, and whether CSV is asked for."""
    if len(request.query) > _MAX_QUERY_CHARACTERS:
        raise NotPossible(f"a query has at most {_MAX_QUERY_CHARACTERS} characters")
    try:
        given = dict(parse_qsl(request.query, max_num_fields=_MAX_PARAMETERS, errors="strict"))
    except ValueError:
        raise NotPossible("the query cannot be read") from None
    form = given.pop("format", "json") if endpoint.lists else "json"
    if form not in {"json", "csv"}:
        raise NotPossible("format is json or csv")
    return given, form == "csv"


async def _body(request: Request) -> dict[str, Any]:
    try:
        return msgspec.json.decode(await request.body(MAX_BODY_BYTES), type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NotPossible("the body is not a JSON object") from None


def _input(endpoint: AdminEndpoint, fields: dict[str, Any]) -> AdminRequest:
    if any(isinstance(value, str) and "\0" in value for value in fields.values()):
        raise NotPossible("a value contains a NUL")
    try:
        return msgspec.convert(fields, endpoint.input, strict=endpoint.method != "GET")
    except msgspec.ValidationError as error:
        raise NotPossible(str(error)) from None


def _answer(found: Any, *, csv: bool) -> Response:
    if csv and isinstance(found, Rows):
        following = [] if found.after is None else [("x-after", quote(found.after))]
        return Response(200, [*_CSV, *following], csv_of(found.rows).encode() + b"\n")
    return Response(200, _JSON, _encode(found))


def _failed(error: Exception, endpoint: AdminEndpoint) -> Response:
    if isinstance(error, Refused):
        if error.limit is not None:
            metrics.LIMITS_HIT.add(error.limit)
        wait = error.retry_after_s
        return _error(error.row.status, error.row.error, [] if wait is None else [("retry-after", str(wait))])
    if isinstance(error, NotPossible):
        return _error(404 if isinstance(error, NotFound) else 400, str(error))
    if isinstance(error, KeyRevoked):
        return _error(ADMIN_KEY_REFUSED.status, ADMIN_KEY_REFUSED.error)
    if isinstance(error, StoreUnavailable):
        _log.error("store unavailable", extra={"route": endpoint.path, "why": str(error)})
        return _error(DATABASE_UNAVAILABLE.status, DATABASE_UNAVAILABLE.error)
    _log.error("an operator's request failed", extra={"route": endpoint.path}, exc_info=error)
    return _error(INTERNAL_ERROR.status, INTERNAL_ERROR.error)


def _error(status: int, text: str, headers: Headers | None = None) -> Response:
    return Response(status, [*_JSON, *(headers or [])], _encode({"error": text}))

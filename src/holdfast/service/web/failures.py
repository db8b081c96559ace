"""Refusals on the snapshot paths, in the form that the clients of each protocol understand."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import msgspec

from holdfast.rules.resolution import RESULT, result_of
from holdfast.service.http.messages import ANY_ORIGIN, EXPOSED, NO_SNIFFING, Headers, Response
from holdfast.service.snapshots.port import BlocksFull, BlocksUnavailable
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.telemetry import metrics
from holdfast.wire.endpoints import ErrorForm
from holdfast.wire.errors import BODY_TOO_LARGE, REQUEST_TIMEOUT, Refused
from holdfast.wire.failures import (
    BAD_REQUEST,
    INSUFFICIENT_FUNDS,
    INTERNAL_SERVER_ERROR,
    NOT_CACHED,
    OUT_OF_SPACE,
    STORE_UNAVAILABLE,
    TOO_LARGE,
    TOO_MANY_REQUESTS,
    TOO_SLOW,
    SnapshotRefused,
)
from holdfast.wire.pinning import Failure, FailureText

if TYPE_CHECKING:
    from collections.abc import Mapping

_log = logging.getLogger("holdfast.web")
_UNAUTHORIZED = 401
# Gateways expose these headers in every response, even in refusals (IPFS specifications: Path Gateway, Response
# Headers).
_OF_GATEWAYS = "Content-Range, Content-Length, X-Ipfs-Path, X-Ipfs-Roots, X-Chunked-Output, X-Stream-Output"
SHARED: Headers = [ANY_ORIGIN, (EXPOSED[0], f"{_OF_GATEWAYS}, {EXPOSED[1]}"), NO_SNIFFING]
NEVER_RENDERED: Headers = [
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
    ("cross-origin-resource-policy", "cross-origin"),
]
# After these refusals the rest of the request's body may still arrive, so the connection must be closed.
_CLOSING = frozenset({TOO_LARGE, TOO_SLOW})
_LIMITS = {TOO_MANY_REQUESTS: "uploads", INSUFFICIENT_FUNDS: "snapshot_bytes"}
_ROWS = {BODY_TOO_LARGE: TOO_LARGE, REQUEST_TIMEOUT: TOO_SLOW}


def failure_response(refused: SnapshotRefused, form: ErrorForm, more: Headers | None = None) -> Response:
    """Return the response to a refused request, in the error format of its path."""
    row = refused.row
    headers: Headers = [("cache-control", "no-store"), *SHARED, *(more or [])]
    if row.status == _UNAUTHORIZED:
        headers.append(("www-authenticate", f'Bearer realm="snapshots", error="{row.reason.lower()}"'))
    if refused.retry_after_s is not None:
        headers.append(("retry-after", str(refused.retry_after_s)))
    if row in _CLOSING:
        headers.append(("connection", "close"))
    if row is NOT_CACHED:  # Path Gateway, 412: without any payload
        return Response(row.status, headers, b"")
    if form is ErrorForm.RESOLUTION:
        result = result_of(None, error=row.reason, message=refused.details)
        return Response(row.status, [("content-type", RESULT), *headers], msgspec.json.encode(result))
    if form is ErrorForm.TEXT:
        body = f"{refused.details}\n".encode()
        return Response(row.status, [("content-type", "text/plain; charset=utf-8"), *headers, *NEVER_RENDERED], body)
    failure = Failure(error=FailureText(reason=row.reason, details=refused.details), message=refused.details)
    return Response(row.status, [("content-type", "application/json"), *headers], msgspec.json.encode(failure))


def failed(error: Exception, form: ErrorForm, logged: Mapping[str, str]) -> Response:
    """Return the response to a request whose handler raised this exception; `logged` are the fields of its log line."""
    if isinstance(error, SnapshotRefused):
        if error.row in _LIMITS:
            metrics.LIMITS_HIT.add(_LIMITS[error.row])
        return failure_response(error, form)
    if isinstance(error, Refused):
        return failure_response(SnapshotRefused(_ROWS.get(error.row, BAD_REQUEST)), form)
    if isinstance(error, BlocksFull):
        _log.error("snapshots: no room left", extra=logged)
        return failure_response(SnapshotRefused(OUT_OF_SPACE), form)
    if isinstance(error, (StoreUnavailable, BlocksUnavailable)):
        _log.error("store unavailable", extra={**logged, "why": str(error)})
        return failure_response(SnapshotRefused(STORE_UNAVAILABLE, retry_after_s=1), form)
    _log.error("request failed", extra=logged, exc_info=error)
    return failure_response(SnapshotRefused(INTERNAL_SERVER_ERROR), form)

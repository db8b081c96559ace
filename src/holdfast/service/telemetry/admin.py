"""Serves the admin port in threads of the process that starts the workers: GET /metrics, and /admin by a worker."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, make_wsgi_app

from holdfast.service.http.bounded_server import MAX_REQUEST_BYTES, BoundedServer, request_arrived
from holdfast.service.http.relaying import NoWorker, RelayedRequest, RelayedResponse, relay
from holdfast.service.telemetry.collecting import NodeCollector
from holdfast.wire.admin_endpoints import ADMIN_DOCUMENT
from holdfast.wire.errors import AMBIGUOUS_REQUEST, BODY_TOO_LARGE, REQUEST_TIMEOUT, SERVICE_BUSY, ErrorRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from wsgiref.types import WSGIApplication

ADMIN = "/admin"
_HEADER = "HTTP_"


def serve_admin(host: str, port: int, folder: Path) -> BoundedServer:
    """Serve the metrics of all workers, combined from the files in this folder, and pass on operators' requests.

    Raises OSError if the port is in use.
    """
    registry = CollectorRegistry()
    registry.register(NodeCollector(folder))
    server = BoundedServer(host, port, _application(folder, make_wsgi_app(registry)))
    server.start()
    return server


def _application(folder: Path, metrics: WSGIApplication) -> WSGIApplication:
    def respond(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path not in {ADMIN, ADMIN_DOCUMENT} and not path.startswith(f"{ADMIN}/"):
            request_arrived(environ)
            return metrics(environ, start)
        response = _relayed(folder, environ)
        phrase = HTTPStatus(response.status).phrase
        start(f"{response.status} {phrase}", [*response.headers, ("content-length", str(len(response.body)))])
        return [response.body]

    return respond


def _relayed(folder: Path, environ: dict[str, Any]) -> RelayedResponse:
    length = environ.get("CONTENT_LENGTH") or "0"
    if "HTTP_TRANSFER_ENCODING" in environ or not (length.isascii() and length.isdecimal()):
        return _refused(AMBIGUOUS_REQUEST)
    if len(length) > len(str(MAX_REQUEST_BYTES)) or int(length) > MAX_REQUEST_BYTES // 2:
        return _refused(BODY_TOO_LARGE)
    try:
        content = environ["wsgi.input"].read(int(length))
        request_arrived(environ)
        return relay(folder, _request(environ, content))
    except NoWorker:
        return _refused(SERVICE_BUSY)
    except TimeoutError:  # while the body is read
        return _refused(REQUEST_TIMEOUT)


def _request(environ: dict[str, Any], content: bytes) -> RelayedRequest:
    return RelayedRequest(
        method=environ["REQUEST_METHOD"],
        path=environ["PATH_INFO"],
        query=environ.get("QUERY_STRING", ""),
        peer=environ.get("REMOTE_ADDR", ""),
        headers=[(name[5:].lower().replace("_", "-"), environ[name]) for name in environ if name.startswith(_HEADER)],
        content=content,
    )


def _refused(row: ErrorRow) -> RelayedResponse:
    return RelayedResponse(
        row.status, [("content-type", "application/json")], json.dumps({"error": row.error}).encode()
    )

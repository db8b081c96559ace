"""Serves the admin port in threads of the process that starts the workers: GET /metrics, and /admin by a worker."""

from __future__ import annotations

import json
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler

from prometheus_client import CollectorRegistry, start_http_server

from holdfast.service.http.relaying import MAX_REQUEST_BYTES, NoWorker, RelayedRequest, RelayedResponse, relay
from holdfast.service.telemetry.collecting import NodeCollector
from holdfast.wire.errors import AMBIGUOUS_REQUEST, BODY_TOO_LARGE, REQUEST_TIMEOUT, SERVICE_BUSY, ErrorRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

ADMIN = "/admin"
_SILENT_S = 20.0  # after which a connection that sends nothing is closed
_HEADER = "HTTP_"


def serve_admin(host: str, port: int, folder: Path) -> None:
    """Serve the metrics of all workers, combined from the files in this folder, and pass on operators' requests.

    Raises OSError if the port is in use.
    """
    registry = CollectorRegistry()
    registry.register(NodeCollector(folder))
    server, _ = start_http_server(port, addr=host, registry=registry)
    server.RequestHandlerClass = _Handler
    server.set_app(_application(folder, server.get_app()))


class _Handler(WSGIRequestHandler):
    """Closes silent connections, and logs nothing: paths and queries may name people."""

    timeout = _SILENT_S

    def handle(self) -> None:
        with suppress(OSError):  # the connection was silent or has broken: the base class would print its address
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


def _application(folder: Path, metrics: Any) -> Callable[..., Iterable[bytes]]:
    def respond(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path != ADMIN and not path.startswith(f"{ADMIN}/"):
            found: Iterable[bytes] = metrics(environ, start)
            return found
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
        return relay(folder, _request(environ, environ["wsgi.input"].read(int(length))))
    except NoWorker:
        return _refused(SERVICE_BUSY)
    except TimeoutError:  # of a body that does not come
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

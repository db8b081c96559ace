"""Stopping the service loses no request: every request that a process has begun to handle is stored and answered."""

import contextlib
import json
import signal
import socket
import time
from http.client import HTTPConnection, HTTPResponse

import pytest
from tests.support.serving import DID, PATIENCE_S, becomes_true
from tests.support.soak import cases

REQUESTS = 6
HELD_S = 1.0
SERVERS = {  # several processes use PostgreSQL, one process SQLite
    "RSGI": {"workers": "2"}, "ASGI": {"workers": "2", "indexer_url": "http://127.0.0.1:9"}, "RSGI, one process": {},
    "uvicorn": {"server": "uvicorn"},
}  # fmt: skip


def held_request(server, number):
    """Begin a registration, and return a function that sends the rest and returns the status.

    Returns once the service starts to read the body, which it announces with `100 Continue`.
    """
    body = json.dumps({"handle": f"held{number}", "did": DID}).encode()
    connection = socket.create_connection((server.host, server.port), timeout=PATIENCE_S)
    connection.sendall(
        b"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Expect: 100-continue\r\nX-Forwarded-For: 10.0.0.%d\r\nContent-Length: %d\r\n\r\n" % (number, len(body))
    )
    interim = connection.recv(4096)
    assert interim.startswith(b"HTTP/1.1 100 "), interim
    connection.sendall(body[:10])

    def finish():
        with connection:
            connection.sendall(body[10:])
            response = HTTPResponse(connection)
            response.begin()
            response.read()
            return response.status

    return finish


@pytest.mark.parametrize("settings", cases(SERVERS, "RSGI"))
def test_requests_under_way_at_a_stop_are_answered_and_stored(serve, settings, fresh_postgres_url):
    given = {**settings, "database_url": fresh_postgres_url} if "workers" in settings else settings
    server = serve(**given)
    requests = [held_request(server, n) for n in range(REQUESTS)]
    server.process.send_signal(signal.SIGTERM)
    assert becomes_true(lambda: not _accepts(server))
    time.sleep(HELD_S)
    assert [finish() for finish in requests] == [200] * REQUESTS
    assert server.process.wait(PATIENCE_S) == 0
    assert "refused to gracefully stop" not in server.log.read_text(), "a worker had to be killed"
    again = serve(server.data, **given)
    with again.client() as client:
        taken = [client.get(f"/api/sessions/check?handle=held{n}").json()["available"] for n in range(REQUESTS)]
    assert taken == [False] * REQUESTS


@pytest.mark.parametrize(
    "settings", [{}, {"indexer_url": "http://127.0.0.1:9"}, SERVERS["uvicorn"]], ids=["RSGI", "ASGI", "uvicorn"]
)
def test_requests_after_the_signal_are_answered(serve, settings):
    """Connections are kept alive until SIGTERM; requests that are sent on them afterwards get a response."""
    server = serve(stop_delay="300", **settings)
    with contextlib.ExitStack() as opened:
        kept = [opened.enter_context(contextlib.closing(HTTPConnection(server.host, server.port))) for _ in range(8)]
        for connection in kept:
            assert answered(connection, "/healthz") == (200, None)
        server.process.send_signal(signal.SIGTERM)
        assert becomes_true(lambda: not_ready(server))
        for connection in kept:
            assert answered(connection, "/healthz") == (200, "close")


def answered(connection, path):
    """Return the status and the `Connection` of a response."""
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    return response.status, response.getheader("connection")


def not_ready(server):
    with contextlib.closing(HTTPConnection(server.host, server.port)) as fresh:
        return answered(fresh, "/readyz")[0] == 503


def _accepts(server):
    try:
        socket.create_connection((server.host, server.port), timeout=PATIENCE_S).close()
    except OSError:  # refused, or reset before any process accepted it
        return False
    return True

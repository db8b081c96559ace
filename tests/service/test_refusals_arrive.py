"""A refusal before the body is read reaches the client, also one that writes its whole body before it reads."""

import socket

import pytest
from tests.support.serving import PATIENCE_S
from tests.support.soak import cases

MB = 1_000_000
SERVERS = {"RSGI": {}, "ASGI": {"indexer_url": "http://127.0.0.1:9"}, "uvicorn": {"server": "uvicorn"}}


@pytest.mark.parametrize("settings", cases(SERVERS, "RSGI", "uvicorn"))
def test_a_client_that_writes_everything_first_gets_the_refusal(serve, settings):
    server = serve(**settings)
    for path, status in ((b"/api/v0/dag/import", b"401"), (b"/api/sessions", b"413"), (b"/api/nowhere", b"404")) * 3:
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
            connection.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path, 10 * MB))
            connection.sendall(bytes(10 * MB))
            assert connection.recv(65536).startswith(b"HTTP/1.1 %s " % status), path


@pytest.mark.parametrize("settings", cases(SERVERS, "RSGI"))
def test_what_is_dropped_is_bounded(serve, settings):
    """A client that goes on sending for ever is cut."""
    server = serve(**settings)
    head = b"POST /api/v0/dag/import HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(head)
        with pytest.raises(ConnectionError):
            connection.sendall((b"f4240\r\n" + bytes(MB) + b"\r\n") * 200)


@pytest.mark.parametrize("settings", cases(SERVERS, "RSGI"))
def test_a_client_that_waits_for_leave_is_not_waited_for(serve, settings):
    server = serve(**settings)
    head = b"POST /api/v0/dag/import HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(head)
        assert connection.recv(65536).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("settings", cases(SERVERS, "uvicorn"))
def test_a_refusal_after_the_body_was_read_keeps_the_connection(serve, settings):
    server = serve(**settings)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
        for _ in range(2):
            connection.sendall(b"POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
            received = b""
            while not received.endswith(b"}"):
                received += connection.recv(65536)
            assert received.startswith(b"HTTP/1.1 400 ")

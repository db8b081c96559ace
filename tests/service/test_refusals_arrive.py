"""A refusal before the body is read reaches the client, also one that writes its whole body before it reads."""

import socket

import pytest
from tests.support.serving import PATIENCE_S
from tests.support.soak import cases

MB = 1_000_000
SERVERS = {"RSGI": {}, "ASGI": {"indexer_url": "http://127.0.0.1:9"}, "uvicorn": {"server": "uvicorn"}}
IMPORT = b"POST /api/v0/dag/import HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("settings", cases(SERVERS, "RSGI", "uvicorn"))
def test_a_refusal_arrives_whatever_the_client_writes_first(serve, settings):
    server = serve(**settings)

    def connect():
        return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)

    for path, status in ((b"/api/v0/dag/import", b"401"), (b"/api/sessions", b"413"), (b"/api/nowhere", b"404")) * 3:
        with connect() as connection:
            connection.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path, 10 * MB))
            connection.sendall(bytes(10 * MB))
            assert connection.recv(65536).startswith(b"HTTP/1.1 %s " % status), path
    with connect() as connection:  # it waits for leave, and is not waited for
        connection.sendall(IMPORT + b"Content-Length: 9999999\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 401 ")
    with connect() as connection:  # what is dropped is bounded
        connection.sendall(IMPORT + b"Transfer-Encoding: chunked\r\n\r\n")
        with pytest.raises(ConnectionError):
            connection.sendall((b"f4240\r\n" + bytes(MB) + b"\r\n") * 200)
    with connect() as connection:  # after the body was read, the connection is kept
        for _ in range(2):
            connection.sendall(b"POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
            received = b""
            while not received.endswith(b"}"):
                received += connection.recv(65536)
            assert received.startswith(b"HTTP/1.1 400 ")

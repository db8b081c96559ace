"""Attacks on `holdfast serve`: on each connection, every wait is limited in time and every size is bounded."""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from typing import TYPE_CHECKING

import httpx
import psutil
import pytest
import trustme
from tests.support.serving import PATIENCE_S, Server, becomes_true
from tests.support.soak import cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GET = b"GET /api/contracts HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture
def connected() -> Iterator[Callable[..., socket.socket]]:
    """Return a function that opens connections to a server, all of which are closed after the test."""
    with contextlib.ExitStack() as stack:

        def open_one(server: Server, sent: bytes = b"") -> socket.socket:
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
            stack.enter_context(connection)
            connection.sendall(sent)
            return connection

        yield open_one


def ended(connection: socket.socket) -> bool:
    """Return whether the server closes the connection within PATIENCE_S, discarding responses."""
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


def memory_mb(server: Server) -> float:
    root = psutil.Process(server.process.pid)
    return sum(process.memory_info().rss for process in [root, *root.children(recursive=True)]) / 1e6


@pytest.mark.parametrize("indexer", cases({"rsgi": {}, "asgi": {"indexer_url": "http://127.0.0.1:9"}}, "rsgi"))
@pytest.mark.parametrize("sent", [b"", b"GET /api/con", GET[:-2], GET], ids=["nothing", "line", "head", "idle"])
def test_a_connection_without_a_whole_request_ends(
    serve: Callable[..., Server], connected: Callable[..., socket.socket], sent: bytes, indexer: dict[str, str]
) -> None:
    server = serve(idle_timeout="1", **indexer)
    assert ended(connected(server, sent))


def test_a_head_that_comes_byte_by_byte_ends_all_the_same(
    serve: Callable[..., Server], connected: Callable[..., socket.socket]
) -> None:
    server = serve(idle_timeout="1")
    connection = connected(server)

    def refused(byte: int) -> bool:
        time.sleep(0.05)
        try:
            connection.sendall(bytes([byte]))
        except ConnectionError:
            return True
        return False

    assert any(refused(byte) for byte in b"GET /api/contracts?" + b"x" * 1000)


def test_connections_over_the_cap_wait_until_one_ends(
    serve: Callable[..., Server], connected: Callable[..., socket.socket]
) -> None:
    server = serve(max_connections="8", idle_timeout="30")
    held = [connected(server) for _ in range(8)]
    late = connected(server, LAST)
    late.settimeout(1)
    with pytest.raises(TimeoutError):
        late.recv(1)
    held.pop().close()
    late.settimeout(PATIENCE_S)
    assert late.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_idle_connections_up_to_the_cap_do_not_lock_others_out_for_long(
    serve: Callable[..., Server], connected: Callable[..., socket.socket]
) -> None:
    server = serve(max_connections="8", idle_timeout="1")
    held = [connected(server) for _ in range(8)]
    with server.client() as client:
        assert client.get("/healthz").status_code == 200
    assert all(ended(connection) for connection in held)


@pytest.mark.parametrize("indexer", cases({"rsgi": {}, "asgi": {"indexer_url": "http://127.0.0.1:9"}}, "rsgi"))
def test_memory_of_a_connection_is_bounded(
    serve: Callable[..., Server], connected: Callable[..., socket.socket], indexer: dict[str, str]
) -> None:
    """A hundred clients send as fast as they can and read nothing; each may cost the server at most 0.5 MB of memory."""
    server = serve(**indexer)
    with server.client() as client:
        client.get("/api/contracts")
    before, clients = memory_mb(server), [connected(server) for _ in range(100)]
    many_fields = b"".join(b"X-%d: %s\r\n" % (n, b"y" * 500) for n in range(60))
    for client in clients:
        client.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            for _ in range(40):
                client.send(GET * 500)
                client.send(GET[:-2] + many_fields + b"\r\n")
    with server.client() as client:
        assert client.get("/healthz").status_code == 200
    assert memory_mb(server) - before < 50


def test_bodies_that_wait_are_bounded(serve: Callable[..., Server], connected: Callable[..., socket.socket]) -> None:
    server = serve()
    with server.client() as client:
        client.get("/api/contracts")
    before = memory_mb(server)
    head = b"POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n"
    for _ in range(200):
        connected(server, head + b"a" * 65535)
    with server.client() as client:
        assert client.get("/healthz").status_code == 200
    assert memory_mb(server) - before < 100


def test_a_killed_client_leaves_nothing_open(
    serve: Callable[..., Server], connected: Callable[..., socket.socket]
) -> None:
    server = serve()

    def open_sockets() -> int:
        root = psutil.Process(server.process.pid)
        return sum(
            connection.status == psutil.CONN_ESTABLISHED
            for process in [root, *root.children(recursive=True)]
            for connection in process.net_connections(kind="tcp")
        )

    before = open_sockets()
    for connection in [connected(server, GET * 50) for _ in range(50)]:
        connection.close()
    assert becomes_true(lambda: open_sockets() <= before)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[trustme.CA, dict[str, str]]:
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(str(key))
    return authority, {"tls_cert": str(certificate), "tls_key": str(key)}


def alpn(server: Server, context: ssl.SSLContext, protocol: str) -> str | None:
    context.set_alpn_protocols([protocol])
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as wrapped,
    ):
        return wrapped.selected_alpn_protocol()


def test_tls_and_http_2_by_setting(
    serve: Callable[..., Server], certificate: tuple[trustme.CA, dict[str, str]]
) -> None:
    authority, settings = certificate
    context = ssl.create_default_context()
    authority.configure_trust(context)
    server = serve(wait=False, **settings)

    def answers() -> bool:
        assert server.process.poll() is None, server.log.read_text()
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"https://localhost:{server.port}/healthz", verify=context).status_code == 200
        return False

    assert becomes_true(answers)
    assert alpn(server, context, "h2") == "h2"
    assert f"https://127.0.0.1:{server.port}" in server.log.read_text()
    assert server.stop() == 0


def test_half_of_tls_is_refused(serve: Callable[..., Server], certificate: tuple[trustme.CA, dict[str, str]]) -> None:
    _, settings = certificate
    server = serve(wait=False, tls_cert=settings["tls_cert"])
    assert server.process.wait(PATIENCE_S) == 3
    assert "HOLDFAST_TLS_KEY" in server.log.read_text()

"""Attacks on `holdfast serve`: on each connection, every wait is limited in time and every size is bounded."""

import contextlib
import time

import psutil
import pytest
from tests.support.raw_connections import ENTRIES, ended, memory_mb, over_tls, speaking
from tests.support.serving import PATIENCE_S, becomes_true
from tests.support.soak import cases

GET = b"GET /api/contracts HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
BODY = b"POST /api/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n" + b"a" * 65535
ENTRY = pytest.mark.parametrize("entry", cases(ENTRIES, "RSGI"))


@ENTRY
def test_connections_without_a_whole_request_end_and_lock_nobody_out_for_long(serve, connected, entry):
    server = serve(idle_timeout="1", max_connections="8", **entry)
    held = [connected(server, sent) for sent in (b"", b"GET /api/con", GET[:-2], GET) * 2]
    with server.client() as client:
        assert client.get("/healthz").status_code == 200
    assert all(ended(connection) for connection in held)


def test_a_head_that_comes_byte_by_byte_ends_all_the_same(serve, connected):
    connection = connected(serve(idle_timeout="1"))

    def refused(byte):
        time.sleep(0.05)
        try:
            connection.sendall(bytes([byte]))
        except ConnectionError:
            return True
        return False

    assert any(refused(byte) for byte in b"GET /api/contracts?" + b"x" * 1000)


def test_connections_over_the_cap_wait_until_one_ends(serve, connected):
    server = serve(max_connections="8", idle_timeout="30")
    held = [connected(server) for _ in range(8)]
    late = connected(server, LAST)
    late.settimeout(1)
    with pytest.raises(TimeoutError):
        late.recv(1)
    held.pop().close()
    late.settimeout(PATIENCE_S)
    assert late.recv(65536).startswith(b"HTTP/1.1 200 ")


@ENTRY
def test_memory_of_a_connection_is_bounded(serve, connected, entry):
    """A hundred clients send as fast as they can and read nothing; then 200 send bodies that never end."""
    server = serve(**entry)
    with server.client() as client:
        client.get("/api/contracts")
        before, clients = memory_mb(server), [connected(server) for _ in range(100)]
        many_fields = b"".join(b"X-%d: %s\r\n" % (n, b"y" * 500) for n in range(60))
        for one in clients:
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                for _ in range(40):
                    one.send(GET * 500)
                    one.send(GET[:-2] + many_fields + b"\r\n")
        assert client.get("/healthz").status_code == 200
        assert memory_mb(server) - before < 50
        before = memory_mb(server)
        for _ in range(200):
            connected(server, BODY)
        assert client.get("/healthz").status_code == 200
        assert memory_mb(server) - before < 100


def test_a_killed_client_leaves_nothing_open(serve, connected):
    server = serve()

    def open_sockets():
        root = psutil.Process(server.process.pid)
        running = [root, *root.children(recursive=True)]
        sockets = [connection for process in running for connection in process.net_connections(kind="tcp")]
        return sum(connection.status == psutil.CONN_ESTABLISHED for connection in sockets)

    before = open_sockets()
    for connection in [connected(server, GET * 50) for _ in range(50)]:
        connection.close()
    assert becomes_true(lambda: open_sockets() <= before)


def test_tls_and_http_2_by_setting(serve, connected, certificate):
    context, settings = certificate
    server = over_tls(serve(wait=False, **settings), context)
    assert connected(server, tls=speaking(context, "h2")).selected_alpn_protocol() == "h2"
    assert f"https://127.0.0.1:{server.port}" in server.log.read_text()
    assert server.stop() == 0


def test_half_of_tls_is_refused(serve, certificate):
    server = serve(wait=False, tls_cert=certificate[1]["tls_cert"])
    assert server.process.wait(PATIENCE_S) == 3
    assert "HOLDFAST_TLS_KEY" in server.log.read_text()

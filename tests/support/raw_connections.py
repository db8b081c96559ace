"""Raw connections to a running service, its certificate for tests, and what it costs to hold them."""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Callable, Iterator

import httpx2
import psutil
import pytest
import trustme
from tests.support.serving import PATIENCE_S, Server, wait_until_answering

ESTABLISHED = 1  # of Linux's TCP states
ENTRIES = {"RSGI": {}, "ASGI": {"indexer_url": "http://127.0.0.1:9"}}


@pytest.fixture
def connected() -> Iterator[Callable[..., socket.socket]]:
    """Return a function that opens connections with a small receive buffer; all are closed after the test."""
    with contextlib.ExitStack() as stack:

        def open_one(server: Server, sent: bytes = b"", tls: ssl.SSLContext | None = None) -> socket.socket:
            plain = stack.enter_context(socket.socket())
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.settimeout(PATIENCE_S)
            plain.connect(("127.0.0.1", server.port))
            connection = stack.enter_context(tls.wrap_socket(plain, server_hostname="localhost")) if tls else plain
            connection.sendall(sent)
            return connection

        yield open_one


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, dict[str, str]]:
    """A context that trusts the service's certificate, and the settings for it."""
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    chain, key = folder / "cert.pem", folder / "key.pem"
    chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(str(key))
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context, {"tls_cert": str(chain), "tls_key": str(key)}


def speaking(context: ssl.SSLContext, protocol: str) -> ssl.SSLContext:
    """Return the context, which now asks for this protocol of HTTP."""
    context.set_alpn_protocols([protocol])
    return context


def over_tls(server: Server, tls: ssl.SSLContext) -> Server:
    with httpx2.Client(base_url=f"https://localhost:{server.port}", verify=tls) as client:
        wait_until_answering(client, "/healthz", server.log)
    return server


def ended(connection: socket.socket) -> bool:
    """Return whether the server closes the connection within PATIENCE_S. Reads, but only a little at a time."""
    deadline = time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < deadline:
            if not connection.recv(65536):
                return True
    except TimeoutError:
        return False
    except OSError:
        return True
    return False


def is_closed(connection: socket.socket) -> bool:
    """Return whether the server has closed the connection, without reading from it."""
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != ESTABLISHED


def memory_mb(server: Server) -> float:
    root = psutil.Process(server.process.pid)
    return float(sum(process.memory_info().rss for process in [root, *root.children(recursive=True)])) / 1e6


def highest_mb(server: Server, before: float, seconds: int) -> float:
    """Return by how much the service's memory grew at most, while its clients read nothing."""
    highest = 0.0
    for _ in range(seconds * 10):
        time.sleep(0.1)
        highest = max(highest, memory_mb(server) - before)
    return highest

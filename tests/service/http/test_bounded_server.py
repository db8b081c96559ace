"""Silent, slow and endless clients of the admin port shut no one out, and cost a bounded number of threads."""

import contextlib
import socket
import threading

import pytest
from tests.support.serving import PATIENCE_S, becomes_true

from holdfast.service.http.bounded_server import MAX_REQUEST_BYTES, BoundedServer, request_arrived
from holdfast.service.telemetry.admin import serve_admin

MOST = 8
LARGE = 32 * 1024 * 1024  # more than the buffers of two sockets
GET = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
ENDLESS = b"POST /admin/api/bans HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
HELD = {"nothing": b"", "line": b"GET /metr", "head": GET[:-2], "body": ENDLESS}


class Slow:
    """An application that reads what comes, and responds when it may."""

    def __init__(self, content=b"ok"):
        self.content = content
        self.may_respond = threading.Event()
        self.may_respond.set()
        self.entered = threading.Semaphore(0)

    def __call__(self, environ, start):
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        request_arrived(environ)
        self.entered.release()
        assert self.may_respond.wait(PATIENCE_S)
        start("200 OK", [("content-length", str(len(self.content)))])
        return [self.content]


@pytest.fixture
def open_one():
    with contextlib.ExitStack() as stack:

        def connect(server, sent=b"", address="127.0.0.1"):
            connection = socket.create_connection(("127.0.0.1", server.server_port), PATIENCE_S, (address, 0))
            stack.enter_context(connection)
            connection.sendall(sent)
            return connection

        yield connect


@contextlib.contextmanager
def running(application, **more):
    server = BoundedServer("127.0.0.1", 0, application, **more)
    server.start()
    yield server
    server.shutdown()
    server.server_close()


def handlers():
    """Return how many threads serve a connection. Those of an earlier test may still end, so a caller waits."""
    return sum("process_request_thread" in thread.name for thread in threading.enumerate())


def status_of(connection):
    return connection.recv(65536)[9:12]


def received(connection):
    """Return how many bytes come before the end."""
    count = 0
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(1 << 20):
            count += len(part)
    return count


def being_answered(connection):
    """Wait until the server waits for this reader."""
    assert connection.recv(1) == b"H"
    return connection


def has_ended(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("sent", HELD.values(), ids=HELD)
def test_held_connections_shut_nobody_out(open_one, sent):
    with running(Slow(), most=MOST, request_s=3600) as server:
        held = [open_one(server, sent) for _ in range(4 * MOST)]
        assert status_of(open_one(server, GET)) == b"200"
        assert all(has_ended(one) for one in held[: 3 * MOST])
        assert becomes_true(lambda: handlers() <= MOST)


@pytest.mark.parametrize("sent", HELD.values(), ids=HELD)
def test_a_request_that_does_not_arrive_ends(open_one, sent):
    """Bytes now and then do not lengthen the time."""
    with running(Slow(), request_s=0.1) as server:
        connection = open_one(server, sent)

        def refused():
            try:
                connection.sendall(b"x")
            except ConnectionError:
                return True
            return False

        assert becomes_true(refused)


def test_a_request_that_has_arrived_keeps_its_place(open_one):
    slow = Slow()
    slow.may_respond.clear()
    with running(slow, most=2, request_s=0.1) as server:
        working = [open_one(server, GET) for _ in range(2)]
        assert all(slow.entered.acquire(timeout=PATIENCE_S) for _ in working)
        assert has_ended(open_one(server)), "both places are taken"
        slow.may_respond.set()
        assert [status_of(one) for one in working] == [b"200", b"200"]


def test_readers_that_take_nothing_shut_nobody_out(open_one):
    """The one that has waited longest makes room."""
    large = Slow(b"x" * LARGE)
    with running(large, most=2, request_s=3600) as server:
        held = [being_answered(open_one(server, GET)) for _ in range(2)]
        assert received(open_one(server, GET)) > LARGE
        assert [received(one) > LARGE for one in held] == [False, True]


def test_of_addresses_with_as_many_connections_the_longest_wait_ends(open_one):
    large = Slow(b"x" * LARGE)
    large.may_respond.clear()
    with running(large, most=3, request_s=3600) as server:
        first = open_one(server, GET)
        assert large.entered.acquire(timeout=PATIENCE_S)
        silent = open_one(server, address="127.0.0.2")
        open_one(server, GET, address="127.0.0.3")
        assert large.entered.acquire(timeout=PATIENCE_S), "so the silent one is accepted, too"
        large.may_respond.set()
        being_answered(first)
        open_one(server, address="127.0.0.4")
        assert has_ended(silent)
        assert received(first) > LARGE


def test_a_response_that_is_not_taken_ends(open_one):
    large = Slow(b"x" * LARGE)
    with running(large, request_s=0.1) as server:
        connection = open_one(server, GET)
        assert large.entered.acquire(timeout=PATIENCE_S)
        assert becomes_true(lambda: handlers() == 0)
        assert received(connection) < LARGE


def test_a_request_is_bounded_with_its_head_and_half_a_head_is_none(open_one):
    """A server that read on would wait for the end of the head."""
    slow = Slow()
    with running(slow, request_s=3600) as server:
        field = b"X: " + b"y" * 60_000 + b"\r\n"
        with contextlib.suppress(ConnectionError):
            assert has_ended(open_one(server, GET[:-2] + field * (MAX_REQUEST_BYTES // len(field) + 1)))
        half = open_one(server, GET[:-2])
        half.shutdown(socket.SHUT_WR)
        assert has_ended(half)
        assert not slow.entered.acquire(blocking=False)


def test_the_admin_port_is_served_so(open_one, tmp_path):
    server = serve_admin("127.0.0.1", 0, tmp_path)
    held = [open_one(server, sent) for sent in HELD.values() for _ in range(server.most)]
    response = open_one(server, GET)
    assert status_of(response) == b"200"
    assert all(has_ended(one) for one in held[: -server.most])
    server.shutdown()
    server.server_close()

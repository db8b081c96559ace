"""Requests whose host or length is said in two ways, sent to the running command as bytes."""

import socket

import pytest
from tests.support import http2_frames as h2
from tests.support.raw_connections import over_tls, speaking
from tests.support.serving import DID, PATIENCE_S, running_server

SERVERS = {"RSGI": {}, "ASGI": {"indexer_url": "http://127.0.0.1:9"}}
BODY = b'{"handle":"ann","did":"%s"}' % DID.encode()
GET, POST = b"GET /healthz HTTP/1.1\r\n", b"POST /api/sessions HTTP/1.1\r\nHost: a\r\n"
LENGTH, CHUNKED = b"Content-Length: %d\r\n" % len(BODY), b"Transfer-Encoding: chunked\r\n"
WHOLE, CHUNKS = b"\r\n" + BODY, b"\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
REFUSED = {
    "two hosts": GET + b"Host: a\r\nHost: b\r\n\r\n", "one host twice": GET + b"Host: a\r\nHost: a\r\n\r\n",
    "no host": GET + b"\r\n", "an empty host": GET + b"Host: \r\n\r\n",
    "a host with a space": GET + b"Host: a b\r\n\r\n", "a list of hosts": GET + b"Host: a, b\r\n\r\n",
    "another coding": POST + b"Transfer-Encoding: gzip, chunked\r\n" + CHUNKS,
    "a broken chunk": POST + CHUNKED + b"\r\nzz\r\n", "chunked twice": POST + CHUNKED + CHUNKED + CHUNKS,
    # These are refused by granian's HTTP library itself.
    "two lengths": POST + LENGTH + b"Content-Length: 5\r\n" + WHOLE,
    "a list of lengths": POST + b"Content-Length: 5, 5\r\n" + WHOLE,
    "not chunked": POST + b"Transfer-Encoding: gzip\r\n" + WHOLE,
    "chunked in HTTP/1.0": POST.replace(b"1.1", b"1.0") + CHUNKED + CHUNKS,
    "a space before the colon": GET + b"Host : a\r\n\r\n", "a folded field": GET + b"Host: a\r\nX: a\r\n b\r\n\r\n",
}  # fmt: skip
SERVED = {
    "no host in HTTP/1.0": b"GET /healthz HTTP/1.0\r\n\r\n",
    "an absolute path": b"GET http://other/healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    "an IPv6 host": GET + b"Host: [::1]:8787\r\n\r\n",
}


@pytest.fixture(scope="module", params=SERVERS)
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("framing")
    with running_server(folder / "data", folder / "log", **SERVERS[request.param]) as running:
        yield running


@pytest.fixture(scope="module", params=["granian", "uvicorn"])
def either(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("framing")
    with running_server(folder / "data", folder / "log", server=request.param) as running:
        yield running


def status(server, sent):
    return int(answer(server, sent).split()[1])


def answer(server, sent):
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(sent)
        return connection.recv(65536)


@pytest.mark.parametrize("sent", REFUSED.values(), ids=REFUSED)
def test_an_ambiguous_request_is_refused(server, sent):
    assert status(server, sent) == 400


@pytest.mark.parametrize("sent", SERVED.values(), ids=SERVED)
def test_a_clear_one_is_served(server, sent):
    assert status(server, sent) == 200


@pytest.mark.parametrize("settings", SERVERS.values(), ids=SERVERS)
def test_an_authority_of_http_2_is_judged_like_a_host(tmp_path, connected, certificate, settings):
    context, tls = certificate
    with running_server(tmp_path / "data", tmp_path / "log", wait=False, **tls, **settings) as plain:
        server, answered = over_tls(plain, context), {}
        for authority in ("localhost:8787", "ada@localhost", "a,b"):
            asked = h2.PREFACE + h2.settings() + h2.get(1, "/healthz", authority)
            connection, received = connected(server, asked, speaking(context, "h2")), b""
            while not (heads := [payload for kind, *_, payload in h2.frames(received) if kind == h2.HEADERS]):
                received += connection.recv(65536)
            answered[authority] = h2.status_of(heads[0])
    assert answered == {"localhost:8787": 200, "ada@localhost": 400, "a,b": 400}


@pytest.mark.parametrize("fields", [LENGTH + CHUNKED, CHUNKED + b"Content-Length: 5\r\n"], ids=["before", "after"])
def test_chunks_count_and_a_length_next_to_them_does_not(server, fields):
    """granian's HTTP library drops the length before the service sees it, and takes the chunks (RFC 9112, 6.3)."""
    sent = (POST + fields + CHUNKS).replace(b"/api/sessions", b"/api/sessions/none")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(sent + GET + b"Host: a\r\nConnection: close\r\n\r\n")
        received = b""
        while part := connection.recv(65536):
            received += part
    statuses = [line.split()[1] for line in received.split(b"\r\n") if line.startswith(b"HTTP/1.1")]
    assert statuses in ([b"404"], [b"404", b"200"]), "two requests, two responses, unless the first one's ends it"


def test_a_query_that_is_not_encoded_means_what_it_would_mean_encoded(server):
    """curl sends what a person types; URLs contain only ASCII (RFC 3986)."""
    session = '{"handle":"tête","did":"%s"}'.encode() % DID.encode()
    assert status(server, POST + b"Content-Length: %d\r\n\r\n" % len(session) + session) == 200
    for alias in ("tête", "t%C3%AAte"):
        given = answer(server, f"GET /api/aliases/check?alias={alias} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        assert given.endswith(b'{"available":false,"did":"%s"}' % DID.encode())


def session(handle, *headers, address=b"192.0.2.1", chunked=None):
    body = b'{"handle":"%s","did":"%s"}' % (handle.encode(), DID.encode())
    head = POST + b"X-Forwarded-For: %s\r\n" % address + b"".join(headers)
    if chunked is None:
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    return head + CHUNKED + b"\r\n%x\r\n%s" % (len(body), body) + chunked


BROKEN = {
    "cut": b"\r\n", "no size": b"\r\nZZ\r\n", "an end without a line": b"0\r\n\r\n", "no number": b"\r\n:\r\n",
    "a size over 64 bits": b"\r\nffffffffffffffffff\r\n", "a trailer that is none": b"\r\n0\r\n:a\x01\r\n\r\n",
}  # fmt: skip


@pytest.mark.parametrize("end", BROKEN.values(), ids=BROKEN)
def test_a_body_that_breaks_off_is_not_taken_for_a_whole_one(either, end):
    """Its key is free afterwards: a proxy may pass on as chunks what a client broke off."""
    name = f"ann{list(BROKEN.values()).index(end)}"
    key, address = b"Idempotency-Key: %s\r\n" % name.encode(), b"192.0.3.%d" % len(end)
    with socket.create_connection(("127.0.0.1", either.port), timeout=PATIENCE_S) as connection:
        connection.sendall(session(name, key, address=address, chunked=end))
        connection.shutdown(socket.SHUT_WR)
        assert b" 200 " not in connection.recv(65536)
    with either.client() as client:
        assert client.get(f"/api/sessions/check?handle={name}").json()["available"] is True
    assert status(either, session(name, key, address=address)) == 200


def test_an_address_is_not_taken_from_a_trailer_and_one_that_cannot_be_read_is_not_the_proxys(either):
    for number in range(4):
        trailer = b"\r\n0\r\nX-Forwarded-For: 192.0.2.51\r\n\r\n"
        assert status(either, session(f"tom{number}", address=b"192.0.2.50", chunked=trailer)) in {200, 400, 429}
    answers = [status(either, session(f"tim{number}", address=b"192.0.2.51")) for number in range(3)]
    assert answers == [200] * 3, "more than three sessions would be refused"
    for number in range(4):
        assert status(either, session(f"eve{number}", address=b"\xff, 192.0.2.7")) in {200, 400, 429}
    assert status(either, session("eve9", address=b"127.0.0.1")) == 200, "more than three sessions would be refused"


def test_an_upgrade_that_is_not_taken_changes_no_framing(either):
    upgrade = b"Connection: Upgrade\r\nUpgrade: h2c\r\n"
    assert status(either, session("eva", upgrade, address=b"192.0.2.60")) == 200


def test_a_key_that_is_not_ascii_is_not_taken_for_none(either):
    key = "Idempotency-Key: clé\r\n".encode()
    for headers in ((key,), (key, b"Idempotency-Key: a\r\n")):
        assert status(either, session("eve", *headers)) == 400

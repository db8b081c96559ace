"""Requests whose host or length is said in two ways, sent to the running command as bytes."""

import socket

import pytest
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


def session(handle, *headers):
    body = b'{"handle":"%s","did":"%s"}' % (handle.encode(), DID.encode())
    return POST + b"".join(headers) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def test_a_key_that_is_not_ascii_is_not_taken_for_none(server):
    assert status(server, session("eve", "Idempotency-Key: clé\r\n".encode())) == 400


def test_an_address_that_cannot_be_read_is_not_taken_for_the_proxys(server):
    """A proxy appends the address to what the client sent, of which granian's RSGI hides what is not ASCII."""
    for number in range(4):
        status(server, session(f"eve{number}", b"X-Forwarded-For: \xff, 192.0.2.7\r\n"))
    assert status(server, session("eve9")) == 200, "more than three sessions would be refused"


def test_a_query_that_is_not_encoded_means_what_it_would_mean_encoded(server):
    """curl sends what a person types; URLs contain only ASCII (RFC 3986)."""
    session = '{"handle":"tête","did":"%s"}'.encode() % DID.encode()
    assert status(server, POST + b"Content-Length: %d\r\n\r\n" % len(session) + session) == 200
    for alias in ("tête", "t%C3%AAte"):
        given = answer(server, f"GET /api/aliases/check?alias={alias} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        assert given.endswith(b'{"available":false,"did":"%s"}' % DID.encode())

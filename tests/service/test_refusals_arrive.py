"""A refusal before the body is read reaches the client, also one that writes its whole body before it reads."""

import socket

import pytest
from tests.support.javascript import run_module
from tests.support.serving import PATIENCE_S
from tests.support.soak import cases

from holdfast.world.node import folder

MB = 1_000_000
TRIES = 6
SERVERS = {"RSGI": {}, "ASGI": {"indexer_url": "http://127.0.0.1:9"}}
_FETCH = """
  const body = new Uint8Array(given.bytes);
  const answers = [];
  for (let left = given.tries; left > 0; left -= 1) {
    try {
      const answer = await fetch(given.url, {method: "POST", body, headers: {"content-type": given.type}});
      answers.push(`${answer.status} ${(await answer.text()).includes("error")}`);
    } catch (error) { answers.push(String(error.cause?.code ?? error)); }
  }
  return answers;
"""


@pytest.mark.soak  # starts Node many times; in the gate, the next test writes everything first as Node does
@pytest.mark.parametrize("settings", SERVERS.values(), ids=SERVERS)
def test_nodes_fetch_gets_the_refusal_of_a_large_body(serve, settings):
    if not folder():
        pytest.skip("Node is missing")
    server = serve(**settings)

    def answers(path, **more):
        given = {"url": server.url + path, "bytes": 10 * MB, "tries": TRIES, "type": "application/json", **more}
        return run_module(_FETCH, given)

    assert answers("/api/v0/dag/import", type="multipart/form-data; boundary=x") == ["401 true"] * TRIES
    assert answers("/api/sessions") == ["413 true"] * TRIES
    assert answers("/api/nowhere") == ["404 true"] * TRIES


@pytest.mark.parametrize("settings", cases(SERVERS, "RSGI"))
def test_a_client_that_writes_everything_first_gets_the_refusal(serve, settings):
    server = serve(**settings)
    head = b"POST /api/v0/dag/import HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (10 * MB)
    for _ in range(TRIES):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
            connection.sendall(head)
            connection.sendall(bytes(10 * MB))
            assert connection.recv(65536).startswith(b"HTTP/1.1 401 ")


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

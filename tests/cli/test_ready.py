"""`holdfast ready` tells a service that is ready from one that is not, with TLS too."""

import time

import pytest
import trustme
from tests.support.running_service import json_server
from tests.support.serving import running_server

from holdfast.cli.exits import Exit

PATIENCE = "60"


@pytest.mark.parametrize(("host", "tls"), [("127.0.0.1", False), ("0.0.0.0", True)], ids=["http", "https"])
def test_a_service_that_runs_is_ready(holdfast, tmp_path, host, tls):
    settings = {"host": host, "public_url": "http://localhost:8787"}
    if tls:
        issued = trustme.CA().issue_cert("vault.example")
        issued.private_key_pem.write_to_path(tmp_path / "key.pem")
        issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
        settings |= {"tls_cert": str(tmp_path / "cert.pem"), "tls_key": str(tmp_path / "key.pem")}
    with running_server(tmp_path / "data", tmp_path / "log", wait=False, **settings) as server:
        place = settings | {"port": str(server.port)}
        assert holdfast("ready", "--wait", PATIENCE, **place).out == "ready\n"
        assert holdfast("ready", "--alive", "--json", **place).value == {"ready": True}
        assert server.stop() == 0
        answer = holdfast("ready", **place)
    assert (answer.code, answer.out) == (Exit.UNAVAILABLE, "")
    assert answer.err == f"holdfast: not ready at 127.0.0.1 port {server.port}: Connection refused\n"


def test_a_process_without_a_database_is_alive_but_not_ready_also_after_the_wait(holdfast):
    with json_server(lambda _method, path, _body: (200 if path == "/healthz" else 503, {})) as url:
        port = url.rpartition(":")[2]
        assert holdfast("ready", "--alive", port=port).code == Exit.OK
        begun = time.monotonic()
        answer = holdfast("ready", "--wait", "1", port=port)
    assert time.monotonic() - begun >= 1
    told = f"holdfast: not ready at 127.0.0.1 port {port}: it answered 503\n"
    assert (answer.code, answer.err) == (Exit.UNAVAILABLE, told)

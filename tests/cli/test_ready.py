"""`holdfast ready` tells a service that is ready from one that is not, with TLS too."""

import time

import pytest
import trustme
from tests.support.running_service import json_server
from tests.support.serving import running_server

from holdfast.cli.exits import Exit
from holdfast.world.processes import free_port

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


@pytest.fixture
def unready():
    with json_server(lambda _method, path, _body: (200 if path == "/healthz" else 503, {})) as url:
        yield int(url.rpartition(":")[2])


def test_a_process_without_a_database_is_alive_but_not_ready(holdfast, unready):
    assert holdfast("ready", "--alive", port=str(unready)).code == Exit.OK
    answer = holdfast("ready", port=str(unready))
    assert (answer.code, answer.err) == (
        Exit.UNAVAILABLE,
        f"holdfast: not ready at 127.0.0.1 port {unready}: it answered 503\n",
    )


def test_it_waits_as_long_as_it_is_told(holdfast):
    begun = time.monotonic()
    assert holdfast("ready", "--wait", "1", port=str(free_port())).code == Exit.UNAVAILABLE
    assert time.monotonic() - begun >= 1


@pytest.mark.parametrize("port", ["0", "many", "65536"])
def test_a_port_that_is_none_is_a_mistake_in_the_settings(holdfast, port):
    assert holdfast("ready", port=port).code == Exit.CONFIGURATION

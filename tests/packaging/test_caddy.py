"""A node behind Caddy with deploy/caddy/Caddyfile gets what docs/deploy.md says that a proxy must pass on."""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import signal
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.support.children import dying_with_parent
from tests.support.clean_tree import ROOT
from tests.support.serving import PATIENCE_S, becomes_true

from holdfast.service.settings.values import read_settings
from holdfast.world.processes import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SITE = (ROOT / "deploy" / "caddy" / "Caddyfile").read_text()
PROGRAMS = runpy.run_path(str(ROOT / "tools" / "programs.py"))
needs_caddy = pytest.mark.skipif(
    bool(PROGRAMS["missing"](PROGRAMS["CADDY"])), reason="caddy missing: python3 tools/programs.py fetches Debian's"
)


class Mirror(BaseHTTPRequestHandler):
    """Responds with what it received."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        told = {"path": self.path, "headers": {name.lower(): value for name, value in self.headers.items()}}
        answer = json.dumps(told | {"size": len(body)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        with contextlib.suppress(OSError):  # Caddy closes the connection of a body that is too large
            self.wfile.write(answer)

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def mirror() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def caddy(folder: Path, node: int) -> Iterator[httpx.Client]:
    """Run Caddy with a certificate of its local CA, and yield a client that trusts only this CA."""
    port, file = free_port(), folder / "Caddyfile"
    file.write_text(configuration(port, node))
    environment = {"PATH": os.defpath, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    command = [PROGRAMS["program"]("caddy"), "run", "--adapter", "caddyfile", "--config", str(file)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
            preexec_fn=dying_with_parent(signal.SIGTERM),  # noqa: PLW1509 - one prctl, no locks
        )  # fmt: skip
    try:
        authority = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        assert becomes_true(lambda: is_written(authority)), (folder / "log").read_text()
        with httpx.Client(
            base_url=f"https://localhost:{port}",
            verify=ssl.create_default_context(cafile=str(authority)),
            timeout=PATIENCE_S,
        ) as client:
            assert becomes_true(lambda: answers(client)), (folder / "log").read_text()
            yield client
    finally:
        process.terminate()
        process.wait(30)


def is_written(certificate: Path) -> bool:
    return certificate.exists() and "END CERTIFICATE" in certificate.read_text()


def configuration(port: int, node: int) -> str:
    """Return the site's file, changed in its addresses, with a local CA that is installed nowhere."""
    site = SITE
    for found, put in (
        ("\n{\n", "\n{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n"),
        ("\nvault.example {\n", f"\nlocalhost:{port} {{\n\tbind 127.0.0.1\n\ttls internal\n"),
        ("127.0.0.1:8787", f"127.0.0.1:{node}"),
    ):
        assert site.count(found) == 1, found
        site = site.replace(found, put)
    return site


def answers(client: httpx.Client) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return client.get("/healthz").status_code == 200
    time.sleep(0.05)
    return False


@needs_caddy
def test_caddy_passes_on_what_the_service_needs_and_limits_the_rest(tmp_path: Path) -> None:
    with mirror() as node, caddy(tmp_path, node) as client:
        told: dict[str, Any] = client.get("/a%2Fb?c=%2F", headers={"X-Forwarded-For": "203.0.113.9"}).json()
        assert told["path"] == "/a%2Fb?c=%2F"
        assert told["headers"]["host"] == client.base_url.netloc.decode()
        assert told["headers"]["x-forwarded-for"] == "127.0.0.1", "what a client claims is not passed on"
        assert told["headers"]["x-forwarded-proto"] == "https"

        assert client.post("/api/v0/dag/import", content=bytes(17 * 2**20)).json()["size"] == 17 * 2**20
        too_large = client.post("/api/v0/dag/import", content=bytes(18 * 2**20 + 1))
        assert too_large.status_code in {413, 502}, "502 before Caddy 2.7"


def test_the_example_speaks_to_the_port_and_address_of_the_defaults() -> None:
    settings = read_settings({})
    assert f"reverse_proxy {settings.host}:{settings.port}" in SITE
    assert settings.host in {str(network.network_address) for network in settings.trusted_proxies}

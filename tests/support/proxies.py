"""Reverse proxies in front of a service, with the files in deploy/, changed only in their addresses and certificates."""

from __future__ import annotations

import contextlib
import runpy
import ssl
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from tests.support import children
from tests.support.clean_tree import ROOT
from tests.support.serving import PATIENCE_S, becomes_true, wait_until_answering
from tests.support.topology import start_nginx

from holdfast.world.processes import free_port

DEPLOY = ROOT / "deploy"
CADDYFILE = (DEPLOY / "caddy" / "Caddyfile").read_text()
TRAEFIK = {name: (DEPLOY / "traefik" / name).read_text() for name in ("traefik.yaml", "holdfast.yaml")}
PROGRAMS = runpy.run_path(str(ROOT / "tools" / "programs.py"))


@dataclass
class Proxy:
    """A proxy that runs. `tls` trusts its certificate; it is None without TLS."""

    url: str
    tls: ssl.SSLContext | None

    def client(self, **more: Any) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, verify=self.tls or True, timeout=PATIENCE_S, **more)


@contextlib.contextmanager
def caddy(folder: Path, node: int) -> Iterator[Proxy]:
    """Run Caddy with a certificate of its local CA, and trust only this CA."""
    port, file = free_port(), folder / "Caddyfile"
    file.write_text(
        _changed(
            CADDYFILE,
            ("\n{\n", "\n{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n"),
            ("\nvault.example {\n", f"\nlocalhost:{port} {{\n\tbind 127.0.0.1\n\ttls internal\n"),
            ("127.0.0.1:8787", f"127.0.0.1:{node}"),
        )
    )
    command = [PROGRAMS["program"]("caddy"), "run", "--adapter", "caddyfile", "--config", str(file)]
    with _running(command, folder):
        authority = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        assert becomes_true(lambda: _is_written(authority)), (folder / "log").read_text()
        proxy = Proxy(f"https://localhost:{port}", ssl.create_default_context(cafile=str(authority)))
        yield _answering(proxy, folder)


@contextlib.contextmanager
def traefik(folder: Path, node: int) -> Iterator[Proxy]:
    """Run Traefik with its default certificate, which no authority has signed."""
    port, file = free_port(), folder / "traefik.yaml"
    file.write_text(
        _changed(
            TRAEFIK["traefik.yaml"],
            ('":80"', f'"127.0.0.1:{free_port()}"'),
            ('":443"', f'"127.0.0.1:{port}"'),
            ("/etc/traefik", str(folder)),
            ("/var/lib/traefik", str(folder)),
            ("tls: {certResolver: letsencrypt}", "tls: {}"),
        )
    )
    (folder / "holdfast.yaml").write_text(
        _changed(TRAEFIK["holdfast.yaml"], ("`vault.example`", "`localhost`"), ("127.0.0.1:8787", f"127.0.0.1:{node}"))
    )
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    with _running([PROGRAMS["program"]("traefik"), f"--configFile={file}"], folder):
        yield _answering(Proxy(f"https://localhost:{port}", tls), folder)


@contextlib.contextmanager
def nginx(_folder: Path, node: int) -> Iterator[Proxy]:
    """Run nginx, without TLS, as if the node were both that its file names, in a folder that its account may enter."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-nginx-")))
        folder.chmod(0o755)
        yield Proxy(start_nginx(stack, PROGRAMS["program"]("nginx"), folder, [node, node]), None)


def _changed(text: str, *changes: tuple[str, str]) -> str:
    for found, there in changes:
        assert text.count(found) == 1, found
        text = text.replace(found, there)
    return text


def _running(command: Sequence[str], folder: Path) -> AbstractContextManager[None]:
    return children.running(command, folder / "log", HOME=str(folder), XDG_DATA_HOME=str(folder))


def _is_written(certificate: Path) -> bool:
    return certificate.exists() and "END CERTIFICATE" in certificate.read_text()


def _answering(proxy: Proxy, folder: Path) -> Proxy:
    with proxy.client() as client:
        wait_until_answering(client, "/healthz", folder / "log")
    return proxy

"""Runs the parts of `deploy/compose.yaml` on loopback: nginx, Prometheus and nodes, with the same configuration."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from tests.support import children
from tests.support.nodes import Nodes
from tests.support.postgres_server import running
from tests.support.serving import PATIENCE_S, Server, wait_until_answering

from holdfast.world.processes import free_port

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
# The scrape interval is shorter than the 15 s in production, so that tests need not wait so long.
_FASTER = ("15s", "1s")
_VARIABLE = re.compile(r"\$\{?(?P<name>\w+)\}?")
_VALUES = {"job": "holdfast", "instance": ".*", "__rate_interval": "1m", "__interval": "1m", "__range": "5m"}


class MeasuredNodes(Nodes):
    """Nodes with an admin port each, as in the Compose file."""

    def __init__(self, folder: Path, database_url: str) -> None:
        super().__init__(folder, database_url)
        self.admin_ports: dict[int, int] = {}

    def _launch(self, data: Path, port: int) -> Server:
        self._settings["admin_port"] = str(self.admin_ports.setdefault(port, free_port()))
        return super()._launch(data, port)


@dataclass
class Topology:
    nodes: MeasuredNodes
    proxy: str
    prometheus: str
    proxy_log: Path

    def ask_prometheus(self, path: str, **query: str) -> Any:
        answer = httpx2.get(f"{self.prometheus}/api/v1/{path}", params=query, timeout=PATIENCE_S)
        answer.raise_for_status()
        return answer.json()["data"]

    def values(self, expression: str) -> dict[str, float]:
        result = self.ask_prometheus("query", query=expression)["result"]
        return {row["metric"]["instance"]: float(row["value"][1]) for row in result}

    def address_of(self, node: Server) -> str:
        return f"127.0.0.1:{self.nodes.admin_ports[node.port]}"


@contextlib.contextmanager
def topology(nginx: str, prometheus: str) -> Iterator[Topology]:
    """Start PostgreSQL, two nodes, nginx and Prometheus; stop them afterwards. Takes the two programs' paths."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-topology-")))
        folder.chmod(0o755)  # nginx's processes run under another account
        postgres = stack.enter_context(running())
        nodes = MeasuredNodes(folder, postgres.new_database())
        stack.callback(nodes.close)
        nodes.start(2)
        proxy = start_nginx(stack, nginx, folder, [node.port for node in nodes.running])
        monitor = _start_prometheus(stack, prometheus, folder, list(nodes.admin_ports.values()))
        yield Topology(nodes, proxy, monitor, folder / "nginx" / "error.log")


def nginx_configuration(folder: Path, port: int, nodes: Sequence[int]) -> str:
    """Return a complete configuration that includes deploy/nginx/holdfast.conf, changed only in its addresses."""
    site = (DEPLOY / "nginx" / "holdfast.conf").read_text()
    for found, there, places in (
        ("listen 8080;", f"listen 127.0.0.1:{port};", 1),
        *((f"server node{n}:8787 ", f"server 127.0.0.1:{node} ", 2) for n, node in enumerate(nodes, 1)),
    ):
        assert site.count(found) == places, found
        site = site.replace(found, there)
    folders = " ".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;\n"
        f"events {{ worker_connections 512; }}\nhttp {{ access_log off; {folders}\n{site}\n}}\n"
    )


def dashboard_queries() -> list[str]:
    """Return every query of the dashboard, with Grafana's variables filled in."""
    found: list[str] = []

    def look(part: Any) -> None:
        if isinstance(part, dict):
            found.extend(value for name, value in part.items() if name == "expr")
            part = list(part.values())
        if isinstance(part, list):
            for inner in part:
                look(inner)

    look(json.loads((DEPLOY / "grafana" / "holdfast.json").read_text()))
    assert found
    return [_VARIABLE.sub(lambda variable: _VALUES[variable["name"]], query) for query in found]


def start_nginx(stack: contextlib.ExitStack, program: str, folder: Path, nodes: Sequence[int]) -> str:
    """Run nginx before the nodes with these ports until the exit stack is closed, and return its URL."""
    port = free_port()
    home = folder / "nginx"
    home.mkdir(mode=0o777)
    home.chmod(0o777)
    file = home / "nginx.conf"
    file.write_text(nginx_configuration(home, port, nodes))
    command = [program, "-p", str(home), "-e", str(home / "error.log"), "-c", str(file)]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    stack.enter_context(children.running(command, home / "output.log"))
    return _answering(f"http://127.0.0.1:{port}", "/healthz", home / "error.log")


def _start_prometheus(stack: contextlib.ExitStack, program: str, folder: Path, nodes: Sequence[int]) -> str:
    port = free_port()
    home = folder / "prometheus"
    home.mkdir()
    for file in (DEPLOY / "prometheus").iterdir():
        (home / file.name).write_text(file.read_text().replace(*_FASTER))
    targets = [{"targets": [f"127.0.0.1:{node}" for node in nodes], "labels": {"site": "loopback"}}]
    (home / "targets.json").write_text(json.dumps(targets))
    command = [
        program, f"--config.file={home}/prometheus.yml", f"--storage.tsdb.path={home}/data",
        f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    stack.enter_context(children.running(command, home / "output.log"))
    return _answering(f"http://127.0.0.1:{port}", "/-/ready", home / "output.log")


def _answering(url: str, path: str, log: Path) -> str:
    with httpx2.Client(base_url=url, timeout=PATIENCE_S) as client:
        wait_until_answering(client, path, log)
    return url

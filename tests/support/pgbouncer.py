"""PgBouncer in transaction mode in front of a test's PostgreSQL server.

It is Debian's, either installed or downloaded by tools/programs.py.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.support.postgres_server import USER, PostgresServer, account
from tests.support.serving import becomes_true

from holdfast.world.processes import free_port

PREPARES_SINCE = (1, 21)
FETCHED = Path(__file__).resolve().parents[2] / ".setup" / "programs" / "pooler" / "usr"
PLACES = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", str(FETCHED / "sbin")])
# HOLDFAST_TEST_PGBOUNCER selects another program.
PROGRAM = os.environ.get("HOLDFAST_TEST_PGBOUNCER") or shutil.which("pgbouncer", path=PLACES)
MISSING = "pgbouncer is not installed (python3 tools/programs.py fetches Debian's): poolers are NOT tried"
needs_pgbouncer = pytest.mark.skipif(PROGRAM is None, reason=MISSING)


@cache
def _runnable() -> Path:
    """Return the program; a downloaded one is copied with its libraries, because root's checkout may be private."""
    assert PROGRAM is not None
    program = Path(PROGRAM)
    if not program.is_relative_to(FETCHED):
        return program
    copy = Path(tempfile.mkdtemp(prefix="holdfast-pgbouncer-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    copy.chmod(0o755)
    for file in (program, *FETCHED.glob("lib/*-linux-gnu*/lib*.so*")):
        shutil.copy(file, copy)
    return copy / program.name


def _environment() -> dict[str, str]:
    copied = str(_runnable()) != PROGRAM
    return {**os.environ, **({"LD_LIBRARY_PATH": str(_runnable().parent)} if copied else {})}


def version() -> tuple[int, ...]:
    if PROGRAM is None:
        return ()
    command = [str(_runnable()), "--version"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=_environment()).stdout
    return tuple(int(part) for part in told.split()[1].split("."))


@contextlib.contextmanager
def pooled(server: PostgresServer, url: str, pool_size: int = 2, *, prepared: bool = False) -> Iterator[str]:
    """Yield the URL of the same database behind PgBouncer, which runs each transaction on any of its connections.

    `prepared`: whether PgBouncer tracks prepared statements across server connections.
    """
    if prepared and version() < PREPARES_SINCE:
        pytest.skip(f"PgBouncer {version()} is older than 1.21; HOLDFAST_TEST_PGBOUNCER names another one")
    port, database = free_port(), url.rpartition("/")[2]
    settings = server.folder / f"pgbouncer-{port}.ini"
    settings.write_text(
        f"[databases]\n{database} = host=127.0.0.1 port={server.port} user={USER}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"pool_mode = transaction\ndefault_pool_size = {pool_size}\n"
        + (f"max_prepared_statements = {200 if prepared else 0}\n" if version() >= PREPARES_SINCE else "")
    )
    owner = account()
    run_as = {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    process = subprocess.Popen(  # type: ignore[call-overload]
        [_runnable(), settings], stderr=subprocess.DEVNULL, env=_environment(), **run_as
    )
    try:
        assert becomes_true(lambda: _accepts(port)), "PgBouncer does not answer"
        yield f"postgresql://{USER}@127.0.0.1:{port}/{database}?pooler={'prepared' if prepared else 'transaction'}"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False

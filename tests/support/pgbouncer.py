"""PgBouncer in transaction mode in front of a test's PostgreSQL server, if it is installed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING

from tests.support.postgres_server import USER, account

from holdfast.world.processes import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.postgres_server import PostgresServer

PREPARES_SINCE = (1, 21)
PROGRAM = os.environ.get("HOLDFAST_TEST_PGBOUNCER") or shutil.which(
    "pgbouncer", path=os.environ.get("PATH", "") + ":/usr/sbin"
)


def version() -> tuple[int, ...]:
    """Return PgBouncer's version. HOLDFAST_TEST_PGBOUNCER selects a program other than the one on PATH."""
    if PROGRAM is None:
        return ()
    told = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in told.split()[1].split("."))


@contextlib.contextmanager
def pooled(server: PostgresServer, url: str, pool_size: int = 2, *, prepared: bool = False) -> Iterator[str]:
    """Yield the URL of the same database behind PgBouncer, which runs each transaction on any of its connections.

    `prepared`: whether PgBouncer tracks prepared statements across server connections.
    """
    assert PROGRAM is not None
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
    process = subprocess.Popen([PROGRAM, str(settings)], stderr=subprocess.DEVNULL, **run_as)  # type: ignore[call-overload]
    try:
        _wait_for(port)
        yield f"postgresql://{USER}@127.0.0.1:{port}/{database}?pooler={'prepared' if prepared else 'transaction'}"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        assert time.monotonic() < deadline, "PgBouncer does not answer"
        time.sleep(0.05)

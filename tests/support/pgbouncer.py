"""PgBouncer in transaction mode in front of a test's PostgreSQL server, where it is installed."""

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

PROGRAM = shutil.which("pgbouncer", path=os.environ.get("PATH", "") + ":/usr/sbin")


@contextlib.contextmanager
def pooled(server: PostgresServer, url: str, pool_size: int = 2) -> Iterator[str]:
    """The URL of the same database behind PgBouncer, which gives each transaction any of its connections."""
    assert PROGRAM is not None
    port, database = free_port(), url.rpartition("/")[2]
    settings = server.folder / f"pgbouncer-{port}.ini"
    settings.write_text(
        f"[databases]\n{database} = host=127.0.0.1 port={server.port} user={USER}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"pool_mode = transaction\ndefault_pool_size = {pool_size}\n"
    )
    owner = account()
    run_as = {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    process = subprocess.Popen([PROGRAM, str(settings)], stderr=subprocess.DEVNULL, **run_as)  # type: ignore[call-overload]
    try:
        _wait_for(port)
        yield f"postgresql://{USER}@127.0.0.1:{port}/{database}?pooler=transaction"
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

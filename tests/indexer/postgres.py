"""A PostgreSQL cluster of its own for the tests: made by initdb in a temporary folder, reached by a Unix socket."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.indexer.children import dying_with_parent

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "holdfast"


def binaries() -> Path | None:
    """Where initdb and postgres are: HOLDFAST_TEST_POSTGRES_BIN, the path, or Debian's place; the newest wins."""
    if named := os.environ.get("HOLDFAST_TEST_POSTGRES_BIN"):
        return Path(named)
    if found := shutil.which("initdb"):
        return Path(found).parent
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return debian[-1].parent if debian else None


@contextmanager
def cluster(bin_dir: Path) -> Iterator[str]:
    """The URL of a running server; everything is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-pg-"))
    owner = _owner()
    if owner is not None:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    user = None if owner is None else owner.pw_uid
    try:
        subprocess.run(
            [bin_dir / "initdb", "-D", folder / "data", "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
            check=True, capture_output=True, user=user, cwd=folder,
        )  # fmt: skip
        server = subprocess.Popen(
            [bin_dir / "postgres", "-D", folder / "data", "-k", folder, "-h", "", "-F"],
            user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=dying_with_parent(signal.SIGINT),  # noqa: PLW1509 - one prctl, no locks
        )  # fmt: skip
        try:
            _await_socket(folder, server)
            yield f"postgresql://{USER}@/postgres?host={folder}"
        finally:
            server.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
            server.wait(30)
    finally:
        shutil.rmtree(folder)


def _owner() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root; any other account will do."""
    if os.geteuid() != 0:
        return None
    return next(entry for name in ("postgres", "nobody") for entry in pwd.getpwall() if entry.pw_name == name)


def _await_socket(folder: Path, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while not (folder / ".s.PGSQL.5432").exists():
        assert server.poll() is None, "postgres ended by itself"
        assert time.monotonic() < deadline, "postgres does not start"
        time.sleep(0.05)
    time.sleep(0.2)

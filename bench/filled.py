"""Embedded and PostgreSQL stores filled with registered identifiers; large stores can be kept for the next run."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.postgres_server import PostgresServer, may_enter

from bench import cores
from bench.databases import service_database
from bench.postgresql_fill import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.options import Options

# Settings that an operator would choose: a quarter of a small machine's memory, and a checkpoint every few minutes. No
# setting weakens durability.
SETTINGS = {"shared_buffers": "1GB", "max_wal_size": "4GB", "log_min_messages": "warning"}


@contextmanager
def folder(options: Options) -> Iterator[Path]:
    """Create a folder for both stores, so that they write to the same disk."""
    # PostgreSQL refuses to run as root, and another account may not be able to enter root's folders.
    within = options.folder if may_enter(options.folder.parent) else None
    options.folder.chmod(0o711)
    with tempfile.TemporaryDirectory(dir=within, prefix="holdfast-stores-") as made:
        Path(made).chmod(0o711)
        yield Path(made)


def embedded(folder: Path, rows: int) -> str:
    """Return the URL of the embedded store with `rows` registered identifiers, filling it if necessary."""
    file = folder / f"embedded-{rows}.db"
    if not file.exists():
        unfinished = file.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        service_database(unfinished, rows)
        unfinished.rename(file)
    return f"sqlite:///{file}"


@contextmanager
def server(folder: Path, *, on: frozenset[int] = cores.LOAD) -> Iterator[PostgresServer]:
    """Run a PostgreSQL server whose files are in `folder` and remain there."""
    own = folder / "postgresql"
    postgresql = PostgresServer(own, **SETTINGS)
    if not postgresql.data.exists():
        postgresql.create()
    with cores.children_on(on):
        postgresql.start()
    try:
        yield postgresql
    finally:
        postgresql.stop()


def database(postgresql: PostgresServer, rows: int) -> str:
    """Return the URL of the server's database with `rows` registered identifiers, filling it if necessary."""
    name = f"rows_{rows}"
    if not postgresql.execute(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
        unfinished = postgresql.new_database()
        fill(unfinished, rows)
        postgresql.execute(f"ALTER DATABASE {unfinished.rpartition('/')[2]} RENAME TO {name}")
    return postgresql.url(name)

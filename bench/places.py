"""The benchmark's folders, all of which are below `build/bench`, on the checkout's disk."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MADE = ROOT / "build" / "bench"
FASTIFY = HERE / "peers" / "fastify"
FASTAPI = HERE / "peers" / "fastapi"
ACCOUNTS = HERE / "peers" / "accounts"
PEERS_SCHEMA = HERE / "peers" / "schema.sql"
RESERVED = ROOT / "src" / "holdfast" / "rules" / "data" / "reserved_identifiers.txt"
SCRIPTS = Path(sys.executable).parent


def say(what: str) -> None:
    """Write progress to standard error, so that standard output contains only the tables."""
    print(f"bench: {what}", file=sys.stderr, flush=True)

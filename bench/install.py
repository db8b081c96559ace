"""Installs the peers on demand: with npm into their folders, FastAPI into a separate virtual environment."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from bench.places import ACCOUNTS, FASTAPI, FASTIFY, MADE, say
from holdfast.world import node

if TYPE_CHECKING:
    from pathlib import Path

FASTAPI_VENV = MADE / "fastapi"
FASTAPI_PYTHON = FASTAPI_VENV / "bin" / "python"


def fastify() -> None:
    """Install Fastify and better-sqlite3, whose native binding npm downloads or compiles."""
    why = "the Fastify peer needs npm; install the extra `world`, or leave it out: --without fastify"
    _npm(FASTIFY, "Fastify and better-sqlite3 (a minute where the binding is compiled)", why)


def accounts() -> None:
    """Install the contracts of other makers' accounts."""
    _npm(ACCOUNTS, "Safe's and Solady's contracts", "`gas` needs npm; install the extra `world`")


def _npm(folder: Path, what: str, why: str) -> None:
    """Install a folder's packages, pinned by hash. Without npm, raise SystemExit with the reason `why`."""
    lock = folder / "package-lock.json"
    if _fresh(lock, folder / "node_modules" / ".installed"):
        return
    npm = node.npm_command()
    if npm is None:
        raise SystemExit(f"bench: {why}")
    say(f"installing {what}")
    command = [*npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, check=True, cwd=folder, stdout=sys.stderr, env=_environment())
    _stamp(lock, folder / "node_modules" / ".installed")


def _environment() -> dict[str, str]:
    """Make npm compile the binding against the headers of the Node that runs the peer, regardless of npm's settings."""
    wheel = node.folder()
    headers = {"npm_config_nodedir": str(wheel)} if wheel else {}
    return {**os.environ, "PATH": node.search_path(), **headers}


def fastapi() -> None:
    """Install FastAPI, SQLAlchemy and aiosqlite, pinned by hash."""
    lock = FASTAPI / "requirements.lock"
    if _fresh(lock, FASTAPI_VENV / ".installed"):
        return
    say("installing FastAPI, SQLAlchemy and aiosqlite into a separate environment")
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(FASTAPI_VENV)], check=True)
    command = [str(FASTAPI_PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--require-hashes"]
    subprocess.run([*command, "--no-deps", "-r", str(lock)], check=True, stdout=sys.stderr)
    _stamp(lock, FASTAPI_VENV / ".installed")


def _fresh(lock: Path, stamp: Path) -> bool:
    return stamp.exists() and stamp.read_text() == _digest(lock)


def _stamp(lock: Path, stamp: Path) -> None:
    stamp.write_text(_digest(lock))


def _digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()

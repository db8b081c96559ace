"""Installs the peers on demand: Fastify by npm into its folder, FastAPI into a virtual environment of its own."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from bench.places import FASTAPI, FASTIFY, MADE, say

if TYPE_CHECKING:
    from pathlib import Path

FASTAPI_VENV = MADE / "fastapi"
FASTAPI_PYTHON = FASTAPI_VENV / "bin" / "python"


def fastify() -> None:
    """Fastify and better-sqlite3, whose own binding npm fetches or compiles."""
    lock = FASTIFY / "package-lock.json"
    if _fresh(lock, FASTIFY / "node_modules" / ".installed"):
        return
    if not shutil.which("npm"):
        raise SystemExit("bench: the Fastify peer needs Node 20 or newer with npm; leave it out with --without fastify")
    say("installing Fastify and better-sqlite3 (a minute where the binding is compiled)")
    command = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(command, check=True, cwd=FASTIFY, stdout=sys.stderr)
    _stamp(lock, FASTIFY / "node_modules" / ".installed")


def fastapi() -> None:
    """FastAPI, SQLAlchemy and aiosqlite, by hash."""
    lock = FASTAPI / "requirements.lock"
    if _fresh(lock, FASTAPI_VENV / ".installed"):
        return
    say("installing FastAPI, SQLAlchemy and aiosqlite into an environment of their own")
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

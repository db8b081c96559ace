"""Builds the client that a service in a checkout serves, once after a change of its sources."""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.clean_tree import ROOT
from tests.support.programs import program

from holdfast.service.web.client_files import BUILT

STATIC_IMPORT = re.compile(r'(?:\bfrom|\bimport)\s*"(\./[^"]+|\.\./[^"]+)"')


def build_if_older() -> None:
    """Build the client unless the build is newer than every source."""
    BUILT.parent.mkdir(exist_ok=True)
    with (BUILT.parent / "client.lock").open("w") as lock:  # several workers may ask at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_old():
            command = [sys.executable, str(ROOT / "browser" / "build.py"), "served"]
            subprocess.run(command, check=True, capture_output=True)
    assert not _is_old(), "browser/build.py says why there is no build"


def _is_old() -> bool:
    built, sources = BUILT / "holdfast.js", (ROOT / "browser" / "src").rglob("*.ts")
    return not built.exists() or built.stat().st_mtime < max(it.stat().st_mtime for it in sources)


def browser_builder() -> Any:
    return program("browser/build.py")


def loaded(folder: Path, *names: str) -> set[Path]:
    """Return the files that a browser loads for these, as the files themselves say."""
    found, waiting = set[Path](), [(folder / name).resolve() for name in names]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += [(file.parent / name).resolve() for name in STATIC_IMPORT.findall(file.read_text())]
    return found

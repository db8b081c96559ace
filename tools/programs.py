"""Fetches Debian's nginx and Prometheus into .setup/programs, without root and without installing them.

`python3 tools/programs.py` needs apt-get, dpkg and only Python's standard library. `make topology` and its test use
the programs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".setup" / "programs"
PACKAGES = {"nginx": "nginx", "prometheus": "prometheus", "promtool": "prometheus"}  # program and its package
_PLACES = ("usr/bin", "usr/sbin")


def program(name: str) -> str | None:
    """Return the path of a program of the system, or of one that was fetched; None without either."""
    fetched = os.pathsep.join(str(FOLDER / "root" / place) for place in _PLACES)
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", fetched]))


def missing() -> list[str]:
    """Return the names of the programs that are neither installed nor fetched."""
    return [name for name in PACKAGES if program(name) is None]


def fetch() -> str | None:
    """Fetch what is missing. Return what stopped it, or None."""
    packages = sorted({PACKAGES[name] for name in missing()})
    if not packages:
        return None
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        return "apt-get and dpkg are missing: install nginx and Prometheus yourself"
    for folder in ("lists/partial", "cache/archives/partial", "root"):
        (FOLDER / folder).mkdir(parents=True, exist_ok=True)
    apt = ["apt-get", "-qq", "-o", f"Dir::State::lists={FOLDER / 'lists'}", "-o", f"Dir::Cache={FOLDER / 'cache'}"]
    for command in ([*apt, "-o", "Acquire::Retries=5", "update"], [*apt, "download", *packages]):
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"apt-get {command[-1]}: {done.stderr.strip() or done.stdout.strip()}"
    for archive in FOLDER.glob("*.deb"):
        subprocess.run(["dpkg", "-x", archive, FOLDER / "root"], check=True)
        archive.unlink()
    return f"still missing: {', '.join(missing())}" if missing() else None


if __name__ == "__main__":
    stopped = fetch()
    if stopped:
        print(f"holdfast: {stopped}", file=sys.stderr)
    sys.exit(1 if stopped else 0)

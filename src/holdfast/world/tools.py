"""Finds the local world's npm programs, and installs them on first use.

A checkout's `contracts/node_modules` is used if present. Otherwise the pinned subset in `npm/` is installed into the
data folder, without running any install scripts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_data_path

from holdfast.client.storage.file_lock import FileLock
from holdfast.wire.client_errors import StorageError
from holdfast.wire.installing import install_command
from holdfast.world.errors import NodeMissing, WorldError
from holdfast.world.node import npm_command, search_path
from holdfast.world.processes import end, guarded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

MANIFEST = Path(__file__).parent / "npm"
CHECKOUT = Path(__file__).resolve().parents[3] / "contracts" / "node_modules"
_INSTALL = ("install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
# npm's default retries are meant for a single package. With hundreds of packages, they would delay the failure by ten
# minutes on a machine without a network.
_PATIENCE = ("--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=4000")
# To fail early without a network, a single request is sent first, which succeeds or fails at once.
_ASK = ("view", "--fetch-retries=0", "--fetch-timeout=20000", "--no-update-notifier", "--loglevel=error")
_NO_NETWORK = re.compile(
    r"\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|E?TIMEDOUT|ERR_SOCKET_TIMEOUT)\b"
)
UNPINNED = "HOLDFAST_UNPINNED_TOOLS"
_TELL_EVERY_S = 5.0
_LOOK_EVERY_S = 0.5
OLDEST_NODE = 20  # required by anvil's package; npm skips it on an older Node
_CPU = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def _needed() -> str:
    return f"the local chain needs Node.js 20 or newer with npm: {install_command('world')}"


@dataclass(frozen=True, slots=True)
class Tools:
    """A folder of installed npm packages, and the Node.js that runs them."""

    node: str
    modules: Path

    @property
    def anvil(self) -> Path:
        """The path of anvil, a native program in an npm package. Raises WorldError if this platform has none."""
        path = anvil_in(self.modules)
        if not path.exists():
            raise WorldError(f"anvil is not installed for this machine: {platform_package()} is missing")
        return path

    @property
    def alto(self) -> Path:
        """The path of the bundler's start script."""
        return self.modules / "@pimlico" / "alto" / "esm" / "cli" / "alto.js"

    def entry_point_artifact(self, version: str) -> Path:
        """Return the published artifact of EntryPoint `version`, "0.7.0" or "0.8.0"."""
        package = "aa07" if version == "0.7.0" else "@account-abstraction/contracts"
        return self.modules / package / "artifacts" / "EntryPoint.json"


def find_node() -> str:
    """Return Node's path. Raises NodeMissing if it is missing, or older than the tools need."""
    node = shutil.which("node", path=search_path())
    found = None
    if node is not None:
        completed = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)  # noqa: S603 - found on the path
        found = re.match(r"v(\d+)\.", completed.stdout)
        if found is not None and int(found[1]) >= OLDEST_NODE:
            return node
    here = f" (here is {found[0]}x)" if found else ""
    raise NodeMissing(f"{_needed()}{here}")


async def find_tools(say: Callable[[str], None], data: Path | None = None) -> Tools:
    """Return the tools, installing them first if necessary. Raises NodeMissing, WorldError."""
    node = find_node()
    if (CHECKOUT / "@pimlico" / "alto").is_dir() and anvil_in(CHECKOUT).exists():
        return Tools(node, CHECKOUT)
    return Tools(node, await _installed(say, data or _data_folder()))


def _data_folder() -> Path:
    chosen = os.environ.get("HOLDFAST_DATA_DIR")
    return Path(chosen) if chosen else user_data_path("holdfast", appauthor=False)


async def _installed(say: Callable[[str], None], data: Path) -> Path:
    lock = MANIFEST / "package-lock.json"
    folder = data / "chain-tools" / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    if not folder.exists():
        async with _alone(say, data):
            if not folder.exists():  # the previous holder of the lock may have installed them
                _sweep(folder.parent)
                await _install(say, folder)
    return folder / "node_modules"


@asynccontextmanager
async def _alone(say: Callable[[str], None], data: Path) -> AsyncIterator[None]:
    """Hold the installation lock, which the operating system releases when the process ends."""
    announced = False
    while (lock := _locked(data / "chain-tools.lock")) is None:
        if not announced:
            say("another process installs the chain's tools: waiting for it")
        announced = True
        await asyncio.sleep(_LOOK_EVERY_S)
    try:
        yield
    finally:
        lock.release()


def _locked(path: Path) -> FileLock | None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(path)
    except StorageError:
        return None


def _sweep(folder: Path) -> None:
    """Remove what killed installations have left behind. The caller holds the lock, so no installation is running."""
    for partial in folder.glob("*.partial"):
        shutil.rmtree(partial, ignore_errors=True)


async def _install(say: Callable[[str], None], folder: Path) -> None:
    """Install into a temporary folder and rename it at the end, so that no partial installation is ever used."""
    npm = npm_command()
    if npm is None:
        raise NodeMissing(_needed())
    partial = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    partial.mkdir(parents=True)
    try:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(MANIFEST / name, partial / name)
        say("installing the chain's tools from npm into the data folder (once; about 430 MB, a minute or so)")
        await _run_npm(say, partial, *npm, *_ASK, f"@foundry-rs/anvil@{_anvil_version()}", "version")
        await _run_npm(say, partial, *npm, *_INSTALL, *_PATIENCE)
        if not anvil_in(partial / "node_modules").exists():
            _require_leave_for_unpinned()
            await _run_npm(
                say, partial, *npm, *_INSTALL, *_PATIENCE, "--no-save", f"{platform_package()}@{_anvil_version()}"
            )
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _require_leave_for_unpinned() -> None:
    """Raise WorldError unless the user allows programs that have no hash in the lock file, and so trusts npm."""
    if os.environ.get(UNPINNED) != "1":
        raise WorldError(
            f"{platform_package()} has no hash in the lock, which was written on another platform: {UNPINNED}=1"
            " installs it all the same"
        )


async def _run_npm(say: Callable[[str], None], folder: Path, *command: str) -> None:
    began = time.monotonic()
    # npm runs behind a guard, like the world's programs, because it must end if this process is killed.
    process = await asyncio.create_subprocess_exec(
        *guarded(*command), cwd=folder, stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stderr is not None
    said = asyncio.ensure_future(process.stderr.read())  # to its end, which is npm's
    try:
        while not (await asyncio.wait({said}, timeout=_TELL_EVERY_S))[0]:
            say(f"… {time.monotonic() - began:.0f} s")
    finally:
        await end(process)
        said.cancel()
    if process.returncode != 0:
        raise WorldError(_why(said.result().decode(errors="replace")))


def _why(errors: str) -> str:
    """Return npm's error message, reduced to one line."""
    if unreachable := _NO_NETWORK.search(errors):
        return (
            f"npm cannot reach its registry ({unreachable[0]}): the chain's tools are installed from there once; "
            "connect, or set npm's registry or proxy, and start again"
        )
    lines = errors.strip().splitlines() or ["no reason given"]
    return f"npm could not install the chain's tools: {lines[0]}"


def platform_package() -> str:
    """Return the npm package that contains anvil for this machine.

    npm skips the package if the lock file was written on a different platform, so the package must be named explicitly.
    """
    cpu = platform.machine().lower()
    return f"@foundry-rs/anvil-{sys.platform}-{_CPU.get(cpu, cpu)}"


def anvil_in(modules: Path) -> Path:
    """Return where anvil is in a folder of npm packages."""
    return modules / platform_package() / "bin" / ("anvil.exe" if sys.platform == "win32" else "anvil")


def _anvil_version() -> str:
    return str(json.loads((MANIFEST / "package.json").read_text())["dependencies"]["@foundry-rs/anvil"])

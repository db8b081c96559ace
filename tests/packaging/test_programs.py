"""tools/programs.py reports a program that cannot be downloaded, and never uses an incomplete download."""

import sys

import pytest
from tests.support.programs import program

# Fakes of apt-get and dpkg-deb: the first writes an archive, and the second unpacks a program from it.
APT = """
import pathlib, sys
if "install" in sys.argv:
    place = next(word.partition("=")[2] for word in sys.argv if word.startswith("Dir::Cache::archives="))
    (pathlib.Path(place) / "firefox-esr.deb").touch()
"""
DPKG = """
import pathlib, sys
program = pathlib.Path(sys.argv[3]) / "usr" / "bin" / "firefox-esr"
program.parent.mkdir(parents=True)
program.touch(0o755)
"""
FAILS = """
import sys
sys.exit("no room")
"""


@pytest.fixture
def programs(tmp_path, monkeypatch):
    module = program("tools/programs.py")
    monkeypatch.setattr(module, "FOLDER", tmp_path / "programs")
    monkeypatch.setattr(module, "SYSTEM", str(tmp_path / "sbin"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return module


def give(tmp_path, name, script):
    file = tmp_path / "bin" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!{sys.executable}{script}")
    file.chmod(0o755)


def test_without_apt_or_a_mirror_each_set_ends_with_its_reason(programs, tmp_path, capsys):
    assert programs.fetch(programs.FIREFOX) == "apt-get and dpkg are missing: install Firefox yourself"
    give(tmp_path, "apt-get", FAILS)
    give(tmp_path, "dpkg", DPKG)
    titles = ("nginx and Prometheus", "Caddy", "PgBouncer")
    for tests, all_titles in {"test": titles, "soak": (*titles, "Firefox", "WebKitGTK")}.items():
        assert programs.main(tests) == 1
        lines = capsys.readouterr().err.splitlines()
        assert lines == [f"holdfast: {title}: apt-get update: no room" for title in all_titles]


def test_an_unpacking_that_stops_leaves_nothing_and_what_is_fetched_is_not_fetched_again(programs, tmp_path):
    give(tmp_path, "apt-get", APT)
    give(tmp_path, "dpkg", DPKG + FAILS)
    assert programs.fetch(programs.FIREFOX) == "dpkg -x firefox-esr.deb: no room"
    assert programs.missing(programs.FIREFOX) == ["firefox-esr"]
    give(tmp_path, "dpkg", DPKG)
    assert programs.fetch(programs.FIREFOX) is None
    assert programs.program("firefox-esr") == str(tmp_path / "programs" / "firefox" / "usr" / "bin" / "firefox-esr")
    assert not list((tmp_path / "programs").rglob("*.deb")), "archives are not kept"
    give(tmp_path, "apt-get", FAILS)
    assert programs.fetch(programs.FIREFOX) is None

"""The check of the compiled contracts notices every byte; the lock file is as it should be."""

import json
import sys

import pytest
from tests.support.fresh_chain import CONTRACTS
from tests.support.programs import program

pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize(("stored", "exit_code"), [("code", 0), ("c0de", 1), ("code\n", 1), (None, 1)])
def test_the_check_notices_a_single_byte(tmp_path, monkeypatch, capsys, stored, exit_code):
    tool = program("tools/compile_contracts.py")
    if stored is not None:
        (tmp_path / "A.json").write_text(stored)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "build", lambda: tool.Built(files={"A.json": "code"}))
    monkeypatch.setattr(sys, "argv", ["compile_contracts.py", "--check"])
    assert tool.main() == exit_code
    assert ("A.json" in capsys.readouterr().out) == bool(exit_code)


def test_lock_names_no_download_address():
    lock = (CONTRACTS / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    packages = json.loads(lock)["packages"]
    assert [path for path, package in packages.items() if path and "integrity" not in package] == []

"""The command line as operators use it: every command runs as a separate process."""

import pytest
from tests.support.operator import Operator


@pytest.fixture(autouse=True)
def runtime_folder(tmp_path_factory, monkeypatch):
    """Keep the files of unlock periods apart from the machine's."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))


@pytest.fixture
def holdfast(tmp_path):
    """Return a function that runs `holdfast` and asserts that no run ends in a traceback."""
    return Operator(tmp_path / "data")

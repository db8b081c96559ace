"""A test that fails once and then passes leaves the run green, and is listed."""

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest_plugins = ("pytester",)

FAILS_ONCE = """
from pathlib import Path

def test_steady(): pass

def test_fails_once():
    mark = Path("tried")
    if not mark.exists():
        mark.touch()
        print("what a server wrote")
        raise AssertionError
"""


@pytest.fixture
def run_once_more(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))

    def run(tests):
        pytester.makepyfile(tests)
        return pytester.runpytest_subprocess("--reruns", "1", "-p", "no:xdist", "-p", "tests.support.unsteady")

    return run


def test_a_test_that_passes_the_second_time_is_listed(run_once_more):
    run = run_once_more(FAILS_ONCE)
    run.stdout.fnmatch_lines(
        ["*unsteady tests: 1 *", "*::test_fails_once", "*raise AssertionError", "what a server wrote"]
    )
    run.assert_outcomes(passed=2)
    assert run.ret == 0


@pytest.mark.skipif("HOLDFAST_TEST_EXPLORE" in os.environ, reason="new examples are tried")
def test_properties_are_tried_with_the_same_examples_whatever_is_loaded(tmp_path, monkeypatch):
    """Other tests of the same worker load other modules, of which Hypothesis would try the constants."""
    tried = []

    @settings(max_examples=200)
    @given(st.binary(min_size=20, max_size=20))
    def collect(example):
        tried.append(example)

    collect()
    before, tried[:] = list(tried), []
    (tmp_path / "loaded.py").write_text('ADDRESS = b"twenty bytes in all!"')
    loaded = ModuleType("loaded")
    loaded.__file__ = str(tmp_path / "loaded.py")
    monkeypatch.setitem(sys.modules, "loaded", loaded)
    collect()
    assert tried == before

"""Runs the Zig unit tests that are next to the module's code, compiled for this machine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "enclave" / "src"
CACHE = ROOT / "build" / "tests" / "zig"  # only what changed is compiled again


@pytest.mark.timeout(600)
def test_the_codecs_unit_tests():
    CACHE.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "ziglang", "test", str(SOURCES / "unit_test.zig"), "--cache-dir", str(CACHE)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CACHE, timeout=590)
    assert ran.returncode == 0, ran.stderr
    passed = re.search(r"All (\d+) tests passed", ran.stderr)
    assert passed, ran.stderr
    assert int(passed[1]) >= 18

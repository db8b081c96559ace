"""Runs the Zig unit tests that are next to the module's code, compiled for this machine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "enclave" / "src"


@pytest.mark.timeout(600)
def test_the_codecs_unit_tests(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ziglang", "test", str(SOURCES / "unit_test.zig"), "--cache-dir", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=590)
    assert ran.returncode == 0, ran.stderr
    passed = re.search(r"All (\d+) tests passed", ran.stderr)
    assert passed, ran.stderr
    assert int(passed[1]) >= 18

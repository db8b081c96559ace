"""The generated modules of the client are what their generators write."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("tool", ["endpoint_methods", "blocking_client"])
def test_generated_modules_are_in_step(tool: str) -> None:
    command = [sys.executable, str(ROOT / f"tools/{tool}.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nrun: python tools/{tool}.py --write"

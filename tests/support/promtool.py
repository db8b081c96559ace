"""Runs promtool, the rule checker in Debian's package `prometheus`, if it is installed.

`make setup` downloads promtool without root (tools/programs.py).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

UNPACKED = Path(__file__).resolve().parents[2] / ".setup" / "programs" / "root" / "usr" / "bin"
PROGRAM = shutil.which("promtool", path=os.pathsep.join([os.environ.get("PATH", ""), str(UNPACKED)]))
MISSING = "promtool is not installed (Debian's package prometheus): alert rules are NOT tried by Prometheus itself"

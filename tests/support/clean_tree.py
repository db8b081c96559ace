"""The checkout: its path and files, and a function that runs commands which must succeed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROJECT_URL = "https://example.org/holdfast"  # of the packages that the tests build


def run(*command: str | Path, cwd: Path, **more: Any) -> str:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=400, check=False, **more
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_of(*folders: str) -> list[Path]:
    """Return the checkout's files in these folders, also new ones, without what git ignores."""
    listed = run("git", "ls-files", "-co", "--exclude-standard", "--", *folders, cwd=ROOT)
    return [path for name in sorted(set(listed.splitlines())) if (path := ROOT / name).is_file()]

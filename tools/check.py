"""What `make check` runs: everything that can be said of the tree without running the service.

`tools/check.py` runs every check, `tools/check.py lint types` these alone.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON = sys.executable


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        name: what it is called on the command line.
        about: what holds when it passes.
        command: exits with 0 when it holds.
        fix: what mends most failures.
        needs: a program without which it cannot run.
    """

    name: str
    about: str
    command: tuple[str, ...]
    fix: str = ""
    needs: str | None = None


CHECKS = (
    Check("format", "ruff's format", (f"{BIN}/ruff", "format", "--check", "."), fix="ruff format ."),
    Check(
        "lint", "every rule of ruff but those that pyproject names", (f"{BIN}/ruff", "check", "."), "ruff check --fix"
    ),
    Check("types", "mypy --strict over src and tools", (f"{BIN}/mypy",)),
    Check("imports", "who may import whom", (f"{BIN}/lint-imports", "--no-logo", "--no-cache")),
    Check(
        "settings",
        "docs/operating.md and docs/indexer.md state the tables of settings",
        (PYTHON, "tools/settings_table.py", "--check"),
        fix="tools/settings_table.py --write",
    ),
    Check(
        "contracts",
        "compiled anew, the contracts are those in the package",
        (PYTHON, "tools/compile_contracts.py", "--check"),
        fix="tools/compile_contracts.py --write",
        needs="node",
    ),
    Check(
        "vectors",
        "the entry points' own hashes are those in vectors/",
        (PYTHON, "tools/user_operation_vectors.py", "--check"),
        fix="tools/user_operation_vectors.py",
        needs="node",
    ),
)


def main() -> int:
    """Run the checks that are named, or all; 0 when each that could run holds."""
    names = sys.argv[1:]
    if unknown := set(names) - {check.name for check in CHECKS}:
        print(f"no such check: {', '.join(sorted(unknown))}; there are: {', '.join(check.name for check in CHECKS)}")
        return 2
    outcomes = [_run(check) for check in CHECKS if not names or check.name in names]
    print(", ".join(f"{outcomes.count(word)} {word}" for word in ("passed", "failed", "skipped")))
    return 1 if "failed" in outcomes else 0


def _run(check: Check) -> str:
    if check.needs and not shutil.which(check.needs):
        print(f"skip {check.name:10} {check.needs} is not installed", flush=True)
        return "skipped"
    started = time.monotonic()
    done = subprocess.run(check.command, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    if done.returncode == 0:
        print(f"ok   {check.name:10} {check.about} ({seconds:.1f} s)", flush=True)
        return "passed"
    print(f"FAIL {check.name:10} {check.about} ({seconds:.1f} s)")
    print(_indented(done.stdout + done.stderr))
    if check.fix:
        print(f"     -> {check.fix}")
    sys.stdout.flush()
    return "failed"


def _indented(text: str) -> str:
    return "\n".join(f"     {line}" for line in text.strip().splitlines())


if __name__ == "__main__":
    raise SystemExit(main())

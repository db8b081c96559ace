"""The command of every generator: it writes its files or, with `--check`, exits with 1 and lists those out of date."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).resolve().parents[1]


def run(made: Callable[[], Mapping[Path, str]]) -> int:
    """Write the files that `made` returns with their texts, or compare them; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    check = parser.parse_args().check
    stale = {file: text for file, text in made().items() if not file.exists() or file.read_text("utf-8") != text}
    for file, text in stale.items():
        print(f"{'out of date' if check else 'written'}: {file.relative_to(ROOT)}")
        if not check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
    return int(check and bool(stale))

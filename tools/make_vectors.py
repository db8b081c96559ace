"""Writes the files of vectors/ that are computed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from vectors import accounts, claims, content, ipns, user_operations

FOLDER = Path(__file__).resolve().parent.parent / "vectors"
SUBJECTS = (accounts, claims, content, ipns, user_operations)


def texts() -> dict[Path, str]:
    """Return the text of each file."""
    made = {FOLDER / f"{path}.json": form for subject in SUBJECTS for path, form in subject.contents().items()}
    return {file: json.dumps(form, indent=1, ensure_ascii=False) + "\n" for file, form in made.items()}


if __name__ == "__main__":
    from generated import run

    sys.exit(run(texts))

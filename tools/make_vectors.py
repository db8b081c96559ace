"""Writes the files of vectors/ that are computed: `python tools/make_vectors.py`. With `--check` it compares them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from vectors import accounts, claims, content, ipns, user_operations

FOLDER = Path(__file__).resolve().parent.parent / "vectors"
SUBJECTS = (accounts, claims, content, ipns, user_operations)


def main() -> int:
    """Write the files, or with --check compare them; return 0 if they are up to date."""
    made = {FOLDER / f"{path}.json": form for subject in SUBJECTS for path, form in subject.contents().items()}
    texts = {file: json.dumps(form, indent=1, ensure_ascii=False) + "\n" for file, form in made.items()}
    if "--check" in sys.argv[1:]:
        stale = [file.relative_to(FOLDER).as_posix() for file, text in texts.items() if file.read_text() != text]
        print(f"out of date: {', '.join(stale)}" if stale else "up to date")
        return int(bool(stale))
    for file, text in texts.items():
        file.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

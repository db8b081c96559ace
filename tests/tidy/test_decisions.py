"""docs/decisions/index.md lists exactly the existing decision pages."""

from __future__ import annotations

import re
from pathlib import Path

DECISIONS = Path(__file__).resolve().parents[2] / "docs" / "decisions"
ROW = re.compile(r"^\| \[(\d{4})\]\((\S+)\) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
STATUSES = re.compile(r"in force|in force, amended by \d{4}|superseded by \d{4}")


def _rows() -> list[tuple[str, str, str, str, str]]:
    return ROW.findall((DECISIONS / "index.md").read_text("utf-8"))


def test_the_index_lists_every_page_in_order_and_nothing_else() -> None:
    pages = sorted(path.name for path in DECISIONS.glob("*.md") if path.name != "index.md")
    assert [file for _, file, *_ in _rows()] == pages


def test_each_row_states_the_number_and_title_of_its_page() -> None:
    for number, file, title, *_ in _rows():
        assert file.startswith(f"{number}-")
        assert (DECISIONS / file).read_text("utf-8").splitlines()[0] == f"# {title}"


def test_each_row_states_what_was_decided_and_whether_it_is_in_force() -> None:
    for number, _, _, decision, status in _rows():
        assert decision.endswith("."), number
        assert STATUSES.fullmatch(status), number

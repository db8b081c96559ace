"""CSV (RFC 4180) for people who open it with a spreadsheet."""

from __future__ import annotations

import csv
import io
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")  # with which spreadsheets begin a formula


def csv_of(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as CSV, in which no cell is a formula to a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
    return text.getvalue().rstrip("\n")


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    read = unicodedata.normalize("NFKC", text).lstrip(" ")  # some spreadsheets take full-width signs for the ASCII ones
    return f"'{text}" if read.startswith(_FORMULAS) else text

"""Prints lists of operators' tasks as a table, CSV or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.cli.output import emit
from holdfast.wire.csv_text import csv_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.service.operations.operator_tasks import Rows


def print_rows(page: Rows, name: str | None = None, *, csv: bool = False, as_json: bool) -> None:
    """Print one page of a list and, if it has a `name` in JSON, where the next page begins."""
    text = csv_of(page.rows) if csv else _table(page.rows)
    if name and page.after and not csv:
        text += f"\nmore: --after '{page.after}'"
    emit({name: page.rows, "after": page.after} if name else page.rows, text, as_json=as_json)


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [list(rows[0])] if rows else []
    lines += [["-" if value is None else str(value) for value in row.values()] for row in rows]
    return "\n".join("  ".join(line) for line in lines) or "none"

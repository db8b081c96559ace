"""Prints pages of identifiers and counts as a table, CSV or JSON."""

from __future__ import annotations

import csv as csv_module
import io
from typing import TYPE_CHECKING, Any

from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import secrets_or_fail, settings_or_fail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.service.operations.administration import Search
    from holdfast.service.store.administration import DayCount, Listed

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # with which spreadsheets begin a formula


def search_or_fail(asked: Mapping[str, str | None], env_file: str | None, *, as_json: bool) -> Search:
    """Return the search for an operator's words. Exits with USAGE for a filter that cannot be read."""
    from holdfast.rules.addresses import AddressHashes, subject_of_text
    from holdfast.service.operations.administration import search_of

    key = secrets_or_fail(settings_or_fail(env_file, as_json=as_json), as_json=as_json).address_key
    try:
        return search_of(asked, lambda text: AddressHashes(key).of(subject_of_text(text)))
    except ValueError as error:
        fail(Exit.USAGE, str(error), as_json=as_json)


def print_identifiers(rows: Sequence[Listed], following: str | None, *, csv: bool, as_json: bool) -> None:
    """Print one page of identifiers, and where the next one begins."""
    from holdfast.service.operations.administration import plain

    found = [plain(row) for row in rows]
    text = csv_of(found) if csv else _table(found)
    if following and not csv:
        text += f"\nmore: --after '{following}'"
    emit({"identifiers": found, "after": following}, text, as_json=as_json)


def print_counts(rows: Sequence[DayCount], *, csv: bool, as_json: bool) -> None:
    """Print counts by day and channel."""
    from holdfast.service.operations.administration import plain_count

    found = [plain_count(row) for row in rows]
    emit(found, csv_of(found) if csv else _table(found), as_json=as_json)


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV (RFC 4180), in which no cell is a formula to a spreadsheet."""
    text = io.StringIO()
    writer = csv_module.writer(text, lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
    return text.getvalue().rstrip("\n")


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULAS) else text


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join("  ".join("-" if value is None else str(value) for value in row.values()) for row in rows)

"""Descriptions of the tables that are moved."""

from __future__ import annotations

from typing import NamedTuple


class MovedTable(NamedTuple):
    """One table of the target.

    Attributes:
        name: its name.
        columns: in row order; the first `keys` of them are the key.
        keys: how many columns the key has.
        query: reads the rows from the source, ordered by key.
        gathers: whether the query returns a row for each element of the last column, which is a list.
        booleans: columns that the source stores as 0 and 1.
    """

    name: str
    columns: tuple[str, ...]
    keys: int
    query: str
    gathers: bool = False
    booleans: tuple[str, ...] = ()

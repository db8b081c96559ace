"""What is said of each table that is moved."""

from __future__ import annotations

from typing import NamedTuple


class MovedTable(NamedTuple):
    """One table of the target.

    Attributes:
        name: its name.
        columns: in the order of a row; the first `keys` of them are its key.
        keys: how many columns the key has.
        query: reads its rows from the source, ordered by key.
        gathers: whether the query has a row for each element of the last column, a list.
        booleans: columns that the source keeps as 0 and 1.
    """

    name: str
    columns: tuple[str, ...]
    keys: int
    query: str
    gathers: bool = False
    booleans: tuple[str, ...] = ()

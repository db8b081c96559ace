"""CSV in which no cell that a stranger chose is a formula."""

import csv
import io

import pytest

from holdfast.wire.csv_text import csv_of


@pytest.mark.parametrize(
    "given", ["=1+1", " +1", "-1", "@x", "\t=1", "\N{FULLWIDTH EQUALS SIGN}1", "\N{SMALL PLUS SIGN}1"]
)
def test_what_a_spreadsheet_may_read_as_a_formula_is_quoted(given):
    ((cell, other),) = list(csv.reader(io.StringIO(csv_of([{"given": given, "n": None}]), newline="")))[1:]
    assert (cell, other) == (f"'{given}", "")


@pytest.mark.parametrize("given", ["ann", "a=b", "'x", "ann+1@example.org", 7])
def test_other_cells_are_as_they_were(given):
    assert csv_of([{"given": given}]) == f"given\n{given}"

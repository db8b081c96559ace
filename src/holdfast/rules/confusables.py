"""Characters that look alike (Unicode TR39) and the scripts of characters (UAX 24), from Unicode's own tables."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import cache


def unicode_skeleton(text: str) -> str:
    """Return the skeleton (TR39, section 4): two texts are confusable if their skeletons are equal."""
    prototypes = _prototypes()
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).translate(prototypes))


def scripts_of(text: str) -> frozenset[str]:
    """Return the long names, in capitals, of the scripts in a text, excluding Common and Inherited (UAX 24)."""
    firsts, rows = _scripts()
    found = set()
    for point in map(ord, text):
        at = bisect_right(firsts, point) - 1
        if at >= 0 and point <= rows[at][0]:
            found.add(rows[at][1])
    return frozenset(found)


@cache
def _prototypes() -> dict[int, str]:
    from holdfast.rules.unicode_tables import PROTOTYPES  # loaded when the first handle beyond ASCII comes

    rows = (row.split(":") for row in PROTOTYPES.split())
    return {int(source, 16): "".join(chr(int(point, 16)) for point in prototype) for source, *prototype in rows}


@cache
def _scripts() -> tuple[list[int], list[tuple[int, str]]]:
    """Return two lists: the first code point of each range, and each range's last code point with its script."""
    from holdfast.rules.unicode_tables import SCRIPTS  # as above

    rows = [row.split(":") for row in SCRIPTS.split()]
    return [int(first, 16) for _, first, _ in rows], [(int(last, 16), script) for script, _, last in rows]

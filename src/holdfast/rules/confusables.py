"""Characters that look alike, marks that do not show (Unicode TR39) and scripts (UAX 24), from Unicode's own tables."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import cache

_DOT_ABOVE = "\u0307"
_ABOVE = 230  # the combining class of marks above a letter
_DOTTED = frozenset("ijl\u0131\u0237")  # letters that look the same with one more dot, or like such a letter
_ALPHABETS = frozenset({"LATIN", "GREEK", "CYRILLIC"})
# The marks with which a letter of these alphabets composes to another letter (NFC). A test derives them from Unicode's
# data. Vietnamese, Yoruba, Guarani and other languages combine these with letters that have no composed form.
MARKS_OF_ALPHABETS = frozenset(
    "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u0309\u030a\u030b\u030c\u030f\u0311\u0313\u0314\u031b"
    "\u0323\u0324\u0325\u0326\u0327\u0328\u032d\u032e\u0330\u0331\u0342\u0345"
)


def unicode_skeleton(text: str) -> str:
    """Return the skeleton (TR39, section 4): two texts are confusable if their skeletons are equal."""
    prototypes = _prototypes()
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).translate(prototypes))


def with_plain_letters(text: str) -> str:
    """Return the text with the letter a in place of each Latin small capital A, and so on; TR39 does not list them."""
    return text.translate(_small_capitals())


def hides_marks(text: str) -> bool:
    """Return whether a text has a mark that can go unseen, so that the text looks the same without it.

    Such a mark is a dot above a letter that has one already, the same mark twice, or, on a Latin, Greek or Cyrillic
    letter or a sign, a mark that no letter of these alphabets composes with (TR39, section 5.4).
    """
    base, marks = "", ""
    for character in unicodedata.normalize("NFD", text):
        if not unicodedata.category(character).startswith("M"):
            base, marks = character, ""
        elif _is_hidden(character, base, marks):
            return True
        else:
            marks += character
    return False


def _is_hidden(mark: str, base: str, before: str) -> bool:
    if before.endswith(mark) or (scripts_of(base) <= _ALPHABETS and mark not in MARKS_OF_ALPHABETS):
        return True
    if mark != _DOT_ABOVE or any(unicodedata.combining(it) in {0, _ABOVE} for it in before):
        return False
    return base in _DOTTED or unicode_skeleton(base)[0] in _DOTTED


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
def _small_capitals() -> dict[int, int]:
    from holdfast.rules.unicode_tables import SMALL_CAPITALS  # as above

    rows = (row.split(":") for row in SMALL_CAPITALS.split())
    return {int(capital, 16): int(letter, 16) for capital, letter in rows}


@cache
def _scripts() -> tuple[list[int], list[tuple[int, str]]]:
    """Return two lists: the first code point of each range, and each range's last code point with its script."""
    from holdfast.rules.unicode_tables import SCRIPTS  # as above

    rows = [row.split(":") for row in SCRIPTS.split()]
    return [int(first, 16) for _, first, _ in rows], [(int(last, 16), script) for script, _, last in rows]

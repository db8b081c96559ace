"""Reserved handles: compared on the canonical key and on its confusable skeleton (Unicode TR39, section 4)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.wire.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

RESERVED_MESSAGE = "This name is reserved."

# What TR39 makes of visible ASCII, after lower case; a test derives it again from the full table.
_ASCII_PROTOTYPES = str.maketrans({'"': "''", "%": "º/₀", "0": "o", "1": "l", "`": "'", "m": "rn", "|": "l"})
# Digits and signs that people read as letters, but TR39 does not. TR39 covers 0 and 1 (o and l) already.
_READ_AS_LETTERS = str.maketrans("1!34@5$78", "iieaasstb")
_SHORTEST_WORD = 4  # a shorter name with a digit is compared as it is
# The scripts of languages that are written in more than one (TR39, section 5.2, "highly restrictive").
_WRITTEN_TOGETHER = (
    frozenset({"LATIN", "HAN", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "HAN", "BOPOMOFO"}),
    frozenset({"LATIN", "HAN", "HANGUL"}),
)
_OF_EVERY_SCRIPT = frozenset({"COMMON", "INHERITED"})


@dataclass(frozen=True, slots=True)
class ReservedList:
    """Names that cannot be registered."""

    names: frozenset[str]
    skeletons: frozenset[str]
    allowed: frozenset[str] = frozenset()

    def holds(self, key: str) -> bool:
        """Return whether a handle's canonical key is reserved, looks like a reserved name, or imitates another."""
        return key not in self.allowed and (
            key in self.names
            or skeleton(key) in self.skeletons
            or self._holds_in_letters(key.translate(_READ_AS_LETTERS), key)
            or passes_for_another(key)
        )

    def _holds_in_letters(self, letters: str, key: str) -> bool:
        return len(key) >= _SHORTEST_WORD and letters != key and skeleton(letters) in self.skeletons


def reserved_list(names: Iterable[str], allowed: Iterable[str] = ()) -> ReservedList:
    """Return the list of `names` without `allowed`. Raises ValueError with the first line that is not a handle."""
    taken_out = frozenset(map(_key, allowed))
    keys = frozenset(map(_key, names)) - taken_out
    return ReservedList(keys, frozenset(map(skeleton, keys)), taken_out)


def read_names(text: str) -> list[str]:
    """Return the names in a list file: one per line, `#` starts a comment."""
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def skeleton(key: str) -> str:
    """Return the TR39 skeleton, compared in lower case: keys with equal skeletons look alike."""
    if key.isascii():
        return key.translate(_ASCII_PROTOTYPES)
    prototypes = _prototypes()
    decomposed = unicodedata.normalize("NFD", key)
    folded = "".join(prototypes.get(character, character) for character in decomposed)
    return unicodedata.normalize("NFD", folded).lower().translate(_ASCII_PROTOTYPES)


def passes_for_another(key: str) -> bool:
    """Return whether a handle beyond ASCII mixes scripts, or looks like a handle in ASCII.

    A reader cannot tell two handles apart that look alike, so handles that imitate others cannot be registered. This
    follows from the handle alone, whatever is registered already.
    """
    if key.isascii():
        return False
    return skeleton(key).isascii() or _mixes_scripts(key)


def _mixes_scripts(key: str) -> bool:
    from confusable_homoglyphs.categories import unique_aliases  # as below, needed beyond ASCII only

    scripts = frozenset(unique_aliases(key)) - _OF_EVERY_SCRIPT
    return len(scripts) > 1 and not any(scripts <= together for together in _WRITTEN_TOGETHER)


def _key(name: str) -> str:
    try:
        return parse_identifier(name, Channel.HANDLE).key
    except Refused:
        raise ValueError(f"not a possible handle: {name!r}") from None


@cache
def _prototypes() -> dict[str, str]:
    """Return character to prototype, rebuilt from the package's table of pairs, which lists both directions.

    In Unicode's file each source has one prototype, and no prototype is a source. So of a pair, the end with more
    partners is the prototype. If neither has more, either would do, and the smaller one is taken.
    """
    from confusable_homoglyphs.confusables import confusables_data

    partners = {
        _without_marks(key): [_without_marks(row["c"]) for row in rows] for key, rows in confusables_data.items()
    }
    return {
        source: found[0]
        for source, found in partners.items()
        if len(source) == 1 and len(found) == 1 and _is_prototype(found[0], source, partners)
    }


def _is_prototype(candidate: str, source: str, partners: dict[str, list[str]]) -> bool:
    alone = len(partners.get(candidate, ())) == 1
    return not alone or len(candidate) > 1 or candidate < source


def _without_marks(text: str) -> str:
    return text.replace("\u200e", "")  # the table's file puts marks around right-to-left characters

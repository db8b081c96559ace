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


@dataclass(frozen=True, slots=True)
class ReservedList:
    """Names that nobody may choose."""

    names: frozenset[str]
    skeletons: frozenset[str]
    allowed: frozenset[str] = frozenset()

    def holds(self, key: str) -> bool:
        """Whether the canonical key of a handle is reserved, or looks like a name that is."""
        return key not in self.allowed and (key in self.names or skeleton(key) in self.skeletons)


def reserved_list(names: Iterable[str], allowed: Iterable[str] = ()) -> ReservedList:
    """The list of `names` less `allowed`. Raises ValueError naming the first line that is no handle."""
    taken_out = frozenset(map(_key, allowed))
    keys = frozenset(map(_key, names)) - taken_out
    return ReservedList(keys, frozenset(map(skeleton, keys)), taken_out)


def read_names(text: str) -> list[str]:
    """The names in a list file: one a line, `#` starts a comment."""
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def skeleton(key: str) -> str:
    """What a reader may take the key for: equal skeletons look alike (TR39, `skeleton`), compared in lower case."""
    if key.isascii():
        return key.translate(_ASCII_PROTOTYPES)
    prototypes = _prototypes()
    decomposed = unicodedata.normalize("NFD", key)
    folded = "".join(prototypes.get(character, character) for character in decomposed)
    return unicodedata.normalize("NFD", folded).lower().translate(_ASCII_PROTOTYPES)


def _key(name: str) -> str:
    try:
        return parse_identifier(name, Channel.HANDLE).key
    except Refused:
        raise ValueError(f"not a possible handle: {name!r}") from None


@cache
def _prototypes() -> dict[str, str]:
    """Character to prototype, rebuilt from the package's table of pairs, which holds both directions.

    In Unicode's file every source has one prototype and no prototype is a source, so the end of a pair that has
    further partners is the prototype; of two loners either would do, the smaller is taken.
    """
    from confusable_homoglyphs.confusables import confusables_data

    partners = {_bare(key): [_bare(row["c"]) for row in rows] for key, rows in confusables_data.items()}
    return {
        source: found[0]
        for source, found in partners.items()
        if len(source) == 1 and len(found) == 1 and _is_prototype(found[0], source, partners)
    }


def _is_prototype(candidate: str, source: str, partners: dict[str, list[str]]) -> bool:
    alone = len(partners.get(candidate, ())) == 1
    return not alone or len(candidate) > 1 or candidate < source


def _bare(text: str) -> str:
    return text.replace("\u200e", "")  # the table's file wraps right-to-left characters in marks

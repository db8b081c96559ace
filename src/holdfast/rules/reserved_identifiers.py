"""Reserved handles, compared by canonical key and by its confusable skeleton (Unicode TR39, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.rules.confusables import hides_marks, scripts_of, unicode_skeleton, with_plain_letters
from holdfast.rules.handle_forms import BEFORE_COUNTRY, ENDINGS, form_of, host_pattern
from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.wire.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

RESERVED_MESSAGE = "This name is reserved."

# TR39's skeletons of visible ASCII characters after lower-casing. A test derives the same skeletons from the full
# table. The other characters are listed too, because `translate` takes three times as long for characters that are not.
_ASCII_PROTOTYPES = str.maketrans(
    {chr(c): chr(c) for c in range(0x80)} | {'"': "''", "%": "º/₀", "0": "o", "1": "l", "`": "'", "m": "rn", "|": "l"}
)
# Digits and signs that people read as letters, although TR39 does not list them. TR39 lists 0 and 1 (as o and l).
_READ_AS_LETTERS = str.maketrans("1!34@5$78", "iieaasstb")
# The two tables above, combined, for visible ASCII.
_LETTER_PROTOTYPES = str.maketrans(
    {chr(c): chr(c).translate(_READ_AS_LETTERS).translate(_ASCII_PROTOTYPES) for c in range(0x21, 0x7F)}
)
_SHORTEST_WORD = 4  # a shorter name with a digit is compared as it is
# Sets of scripts in which a single language is written (TR39, section 5.2, "highly restrictive").
_WRITTEN_TOGETHER = (
    frozenset({"LATIN", "HAN", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "HAN", "BOPOMOFO"}),
    frozenset({"LATIN", "HAN", "HANGUL"}),
)


@dataclass(frozen=True, slots=True)
class ReservedList:
    """Names that cannot be registered."""

    names: frozenset[str]
    skeletons: frozenset[str]
    allowed: frozenset[str] = frozenset()

    def holds(self, key: str) -> bool:
        """Return whether a handle's key is reserved, looks like a reserved name, or imitates something else."""
        return key not in self.allowed and (self._names(key) or reads_as_another_form(key) or passes_for_another(key))

    def _names(self, key: str) -> bool:
        return (
            key in self.names
            or skeleton(key) in self.skeletons
            or (len(key) >= _SHORTEST_WORD and _skeleton_in_letters(key) in self.skeletons)
        )


def reserved_list(names: Iterable[str], allowed: Iterable[str] = ()) -> ReservedList:
    """Return the reserved list that contains `names` except those in `allowed`.

    Raises ValueError with the first line that is not a handle.
    """
    taken_out = frozenset(map(_key, allowed))
    keys = frozenset(map(_key, names)) - taken_out
    return ReservedList(keys, frozenset(map(skeleton, keys)), taken_out)


def read_names(text: str) -> list[str]:
    """Return the names in a list file, which has one name per line and comments that start with `#`."""
    lines = (line.split("#", 1)[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def skeleton(key: str) -> str:
    """Return a key's TR39 skeleton in lower case. Keys with equal skeletons look alike."""
    if key.isascii():
        return key.translate(_ASCII_PROTOTYPES)
    return unicode_skeleton(with_plain_letters(key)).lower().translate(_ASCII_PROTOTYPES)


def _skeleton_in_letters(key: str) -> str:
    """Return the skeleton of a key after replacing its digits and signs with the letters that they resemble."""
    return key.translate(_LETTER_PROTOTYPES) if key.isascii() else skeleton(key.translate(_READ_AS_LETTERS))


_LOOKS_LIKE_HOST = host_pattern(map(_skeleton_in_letters, ENDINGS), map(_skeleton_in_letters, BEFORE_COUNTRY))


def reads_as_another_form(key: str) -> bool:
    """Return whether a handle reads as an address, a number, a DID or a host, or looks like such a host."""
    return form_of(key) is not None or ("." in key and _LOOKS_LIKE_HOST.match(_skeleton_in_letters(key)) is not None)


def passes_for_another(key: str) -> bool:
    """Return whether a handle with non-ASCII characters mixes scripts, hides marks or looks like an ASCII handle.

    People cannot tell apart two handles that look alike, so handles that imitate others cannot be registered. The check
    depends only on the handle, not on which handles are already registered.
    """
    if key.isascii():
        return False
    return skeleton(key).isascii() or _mixes_scripts(key) or hides_marks(key)


def _mixes_scripts(key: str) -> bool:
    scripts = scripts_of(key)
    return len(scripts) > 1 and not any(scripts <= together for together in _WRITTEN_TOGETHER)


def _key(name: str) -> str:
    try:
        return parse_identifier(name, Channel.HANDLE).key
    except Refused:
        raise ValueError(f"not a possible handle: {name!r}") from None

"""Requires strong passwords for encrypted files, because anyone who has such a file can try many passwords.

The JavaScript client judges new passwords by the same rule (browser/src/vault/password_rule.ts).
"""

from __future__ import annotations

import re
from itertools import pairwise

MIN_CHARACTERS = 12
_MIN_DIFFERENT = 5
_MIN_UNFORESEEN = 7
_NEVER_BELOW = 8
_ROWS = ("qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm", "1234567890")
_NEIGHBOURS = frozenset(pair for row in _ROWS for one, two in pairwise(row) for pair in (one + two, two + one))
# Common passwords and parts of them, which count as one character.
WORDS = (
    "password", "passwort", "passw0rd", "p@ssword", "p@ssw0rd", "kennwort", "letmein", "welcome", "willkommen",
    "iloveyou", "ichliebedich", "changeme", "trustno1", "whatever", "monkey", "dragon", "football", "fussball",
    "fußball", "baseball", "sunshine", "princess", "superman", "batman", "starwars", "shadow", "michael", "master",
    "admin", "default", "login", "secret", "geheim", "hello", "hallo", "schatz", "summer", "sommer", "winter",
    "internet", "computer", "1q2w3e4r", "1qaz2wsx", "qazwsx", "holdfast", "vault", "tresor",
)  # fmt: skip
_WORD = re.compile("|".join(WORDS))


def checked_password(password: str, at_least: int = MIN_CHARACTERS) -> str:
    """Return the password.

    Raises ValueError, without quoting the password, if it has fewer than `at_least` characters or is easy to guess, or
    if `at_least` is below 8. A password is easy to guess if it has fewer than five different characters, or fewer than
    seven that neither repeat nor continue what stands before them.
    """
    if at_least < _NEVER_BELOW:
        raise ValueError(f"the minimum length of passwords cannot be below {_NEVER_BELOW} characters")
    if len(password) < at_least:
        raise ValueError(f"the password is too short: use at least {at_least} characters, for example several words")
    if len(set(password)) < _MIN_DIFFERENT or _unforeseen(password) < _MIN_UNFORESEEN:
        raise ValueError("the password is too simple: use several words that do not belong together")
    return password


def _unforeseen(password: str) -> int:
    """Return the number of characters that neither repeat nor continue what stands before them."""
    small = password.lower()
    once = small[: (small + small).index(small, 1)]
    characters = _WORD.sub("\0", once)
    return 1 + sum(not _follows(before, after) for before, after in pairwise(characters))


def _follows(before: str, after: str) -> bool:
    return abs(ord(after) - ord(before)) <= 1 or before + after in _NEIGHBOURS

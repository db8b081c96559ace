"""How weak a password may be that seals a file: with the file at hand, passwords can be tried without end."""

from __future__ import annotations

MIN_CHARACTERS = 12
_MIN_DIFFERENT = 5
_NEVER_BELOW = 8


def checked_password(password: str, at_least: int = MIN_CHARACTERS) -> str:
    """The password itself.

    Raises ValueError, without quoting it, where it has fewer than `at_least` characters or fewer than five different
    ones, and where `at_least` is below 8.
    """
    if at_least < _NEVER_BELOW:
        raise ValueError(f"the shortest password that can be allowed has {_NEVER_BELOW} characters")
    if len(password) < at_least:
        raise ValueError(f"the password is too short: {at_least} characters at least, several words for example")
    if len(set(password)) < _MIN_DIFFERENT:
        raise ValueError(f"the password is too simple: {_MIN_DIFFERENT} different characters at least")
    return password

"""Requires strong passwords for encrypted files, because anyone who has such a file can try many passwords."""

from __future__ import annotations

MIN_CHARACTERS = 12
_MIN_DIFFERENT = 5
_NEVER_BELOW = 8


def checked_password(password: str, at_least: int = MIN_CHARACTERS) -> str:
    """Return the password.

    Raises ValueError, without quoting the password, if it has fewer than `at_least` characters or fewer than five
    different ones, or if `at_least` is below 8.
    """
    if at_least < _NEVER_BELOW:
        raise ValueError(f"the minimum length of passwords cannot be below {_NEVER_BELOW} characters")
    if len(password) < at_least:
        raise ValueError(f"the password is too short: use at least {at_least} characters, for example several words")
    if len(set(password)) < _MIN_DIFFERENT:
        raise ValueError(f"the password is too simple: use at least {_MIN_DIFFERENT} different characters")
    return password

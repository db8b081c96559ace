"""Chooses the language of what a page shows before its script runs, which then follows the person's own choice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.rules.header_lists import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

_WEIGHT = re.compile(r"\s*q=([01](?:\.[0-9]{0,3})?)\s*", re.IGNORECASE)


def preferred(accept_language: str | None, offered: Sequence[str]) -> str:
    """Return the offered language that the header wants most, or else the first (RFC 9110, section 12.5.4).

    Args:
        accept_language: the header; a malformed weight counts as 1.
        offered: two-letter codes, at least one.
    """
    entries = [entry.partition(";") for entry in listed(accept_language or "")]
    wanted = [(_weight(weight), tag.strip().lower().split("-")[0]) for tag, _, weight in entries]
    found = [(weight, tag) for weight, tag in wanted if weight > 0 and tag in offered]
    return max(found, key=lambda it: it[0])[1] if found else offered[0]


def _weight(parameter: str) -> float:
    found = _WEIGHT.fullmatch(parameter)
    return float(found[1]) if found else 1.0

"""Reads headers that are lists, up to a length that no honest client needs, so that no header is costly to read."""

from __future__ import annotations

MAX_ENTRIES = 64
MAX_CHARACTERS = 8 * 1024


def listed(header: str) -> list[str]:
    """Return the first 64 entries of a comma-separated header; none of one of more than 8 KiB."""
    if len(header) > MAX_CHARACTERS:
        return []
    return [entry.strip() for entry in header.split(",", MAX_ENTRIES)[:MAX_ENTRIES]]


def is_known(if_none_match: str | None, etag: str) -> bool:
    """Return whether the client already has the response with this ETag (RFC 9110, section 13.1.2: weak comparison)."""
    if if_none_match is None:
        return False
    return any(entry.removeprefix("W/") in {etag, "*"} for entry in listed(if_none_match))

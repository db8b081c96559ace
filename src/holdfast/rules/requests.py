"""Requests that are refused before anything reads them: ambiguous ones, and, if so set, those of foreign pages."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_HOST = re.compile(r"[^\s,/?#@\\]*")
_OWN_SITES = frozenset({"same-origin", "none"})  # `none`: the person's own doing, such as an address typed in


def is_host_clear(hosts: Sequence[str], version: str | None) -> bool:
    """Return whether a request names one host, or none where HTTP lets it (RFC 9112, section 3.2).

    HTTP/1.0 has no Host, and HTTP/2 has `:authority` in its place. granian's ASGI has an empty one for a missing one.
    """
    if len(hosts) > 1:
        return False
    return _is_host(hosts[0]) if hosts and hosts[0] else version != "1.1"


def is_length_clear(codings: Sequence[str], lengths: Sequence[str]) -> bool:
    """Return whether the body's length is said in one way (RFC 9112, sections 6.1 and 6.3)."""
    if not codings:
        return len(set(lengths)) <= 1
    return not lengths and len(codings) == 1 and codings[0].strip().lower() == "chunked"


def is_foreign_page(site: str | None, origin: str | None, own: frozenset[str]) -> bool:
    """Return whether a browser sends the request for a page of another origin than the `own` ones.

    Args:
        site: `Sec-Fetch-Site`, which browsers send and pages cannot change; None from programs and older browsers.
        origin: `Origin`, which all browsers send with requests that change something.
        own: the origins whose pages may change something.
    """
    if origin in own or site in _OWN_SITES:
        return False
    return site is not None or origin is not None


@lru_cache(256)
def _is_host(text: str) -> bool:
    return _HOST.fullmatch(text) is not None

"""Which requests the proxies forward (interface: POST /api/bundler, GET /api/indexer/{path})."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

BUNDLER_METHODS = frozenset(
    {
        "eth_sendUserOperation",
        "eth_getUserOperationReceipt",
        "eth_estimateUserOperationGas",
        "pm_sponsorUserOperation",
        "eth_supportedEntryPoints",
    }
)
PAYMASTER_METHODS = frozenset({"pm_getPaymasterStubData", "pm_getPaymasterData"})  # ERC-7677
WORKFLOW_METHODS = ("GET", "HEAD", "PUT", "POST")  # served by the engine's SDK
INDEXER_PREFIX = "/api/indexer"
INDEXER_COLLECTIONS = ("/api/dids", "/api/aliases", "/api/accounts", "/api/events")
INDEXER_DOCUMENTS = ("/api/stats", "/health")
_MAX_PATH_CHARACTERS = 2048  # the longest has a DID of 512 characters, percent-encoded
_FORBIDDEN = frozenset("/\\;")  # semicolons, because some servers treat "..;" as ".."
_MALFORMED = re.compile("%(?![0-9A-Fa-f]{2})")
_DECODINGS = 4  # a segment that changes even then is not a DID or a handle


def indexer_path(raw_path: str) -> str | None:
    """Return the upstream path for a request's raw (still percent-encoded) path, or None if it is not allowed.

    Segments are decoded once and compared as a whole, so `/api/didsx` is not the same path as `/api/dids`. Empty and
    dot segments, encoded slashes, backslashes, semicolons and control characters are never allowed, not even if a
    server decodes further.
    """
    path = raw_path.removeprefix(INDEXER_PREFIX)
    if len(path) > _MAX_PATH_CHARACTERS:
        return None
    segments = path.split("/")[1:]
    if not path.startswith("/") or not all(map(_is_plain, segments)):
        return None
    decoded = "/" + "/".join(unquote_to_bytes(segment).decode() for segment in segments)
    return path if _is_listed(decoded) else None


def _is_listed(path: str) -> bool:
    return path in INDEXER_DOCUMENTS or any(
        path == listed or path.startswith(listed + "/") for listed in INDEXER_COLLECTIONS + INDEXER_DOCUMENTS[:1]
    )


def _is_plain(segment: str) -> bool:
    if _MALFORMED.search(segment):
        return False
    for _ in range(_DECODINGS):
        if not segment.isprintable() or segment in {"", ".", ".."} or _FORBIDDEN & set(segment):
            return False
        encoded = segment
        try:
            segment = unquote_to_bytes(encoded).decode()
        except UnicodeDecodeError:
            return False
        if segment == encoded:
            return True
    return False

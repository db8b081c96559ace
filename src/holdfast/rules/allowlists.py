"""What the proxies let through (interface: POST /api/bundler, GET /api/indexer/{path})."""

from __future__ import annotations

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
INDEXER_PREFIX = "/api/indexer"
INDEXER_COLLECTIONS = ("/api/dids", "/api/aliases", "/api/accounts", "/api/events")
INDEXER_DOCUMENTS = ("/api/stats", "/health")
_FORBIDDEN = frozenset("/\\")


def indexer_path(raw_path: str) -> str | None:
    """The upstream path for a request's raw (still percent-encoded) path, or None where it is not allowed.

    Segments are decoded once and matched whole, so `/api/didsx` is another path; an empty or dot segment, an encoded
    slash, a backslash or a control character is never allowed, nor one that a second decoding would bring to light.
    """
    path = raw_path.removeprefix(INDEXER_PREFIX)
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
    once = unquote_to_bytes(segment)
    try:
        forms = (segment, once.decode(), unquote_to_bytes(once).decode())
    except UnicodeDecodeError:
        return False
    return all(form not in {"", ".", ".."} and not _FORBIDDEN & set(form) and form.isprintable() for form in forms)

"""Which form a client wants of a resolved DID (W3C DID Resolution, HTTP binding; as the Universal Resolver has it)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.rules.header_lists import listed
from holdfast.wire.failures import NOT_REPRESENTABLE, SnapshotRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

RESULT = 'application/ld+json;profile="https://w3id.org/did-resolution"'
DOCUMENT = "application/did+ld+json"
_RESULTS = {
    "*/*": RESULT,
    "application/*": RESULT,
    "application/ld+json": RESULT,
    "application/json": "application/json",
    "application/did-resolution": "application/did-resolution",
}
_DOCUMENTS = {kind: kind for kind in (DOCUMENT, "application/did+json", "application/did")}
_KNOWN = _RESULTS | _DOCUMENTS
_CONTEXT = "https://w3id.org/did-resolution/v1"


def media_of(accept: str | None) -> str:
    """Return the media type of the response: that of a whole result unless the client prefers a bare document.

    Raises SnapshotRefused(NOT_REPRESENTABLE) if the client accepts none.
    """
    if accept is None:
        return RESULT
    weighed = [(_weight(parameters), kind) for kind, *parameters in map(_parts, listed(accept))]
    kinds = [(weight, kind) for weight, kind in weighed if weight > 0 and kind in _KNOWN]
    if not kinds:
        raise SnapshotRefused(NOT_REPRESENTABLE)
    return _KNOWN[max(kinds, key=lambda pair: pair[0])[1]]


def is_document(media: str) -> bool:
    """Return whether the response with this media type is a bare DID document."""
    return media in _DOCUMENTS


def result_of(
    document: Mapping[str, object] | None,
    metadata: Mapping[str, object] | None = None,
    *,
    error: str = "",
    message: str = "",
) -> dict[str, object]:
    """Return a DID resolution result; `error` and `message` for one that failed."""
    failure = {"error": error, "errorMessage": message} if error else {"contentType": DOCUMENT}
    return {
        "@context": _CONTEXT,
        "didDocument": document,
        "didResolutionMetadata": failure,
        "didDocumentMetadata": metadata or {},
    }


def _parts(entry: str) -> list[str]:
    return [part.strip().lower() for part in entry.split(";")]


def _weight(parameters: list[str]) -> float:
    """Return the weight of an entry (RFC 9110, section 12.4.2); 0 for one that cannot be read."""
    for parameter in parameters:
        if parameter.startswith("q="):
            digits = parameter.removeprefix("q=")
            return float(digits) if digits.replace(".", "", 1).isdecimal() and len(digits) <= 5 else 0.0  # noqa: PLR2004 - 0.123
    return 1.0

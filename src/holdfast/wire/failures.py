"""Refusals on the snapshot paths: Failures of the Pinning Service API, and the gateway's one-sentence errors.

A row's `details` is one sentence for people. If numbers make the reason clearer, the refusal has a sentence with these
numbers instead.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FailureRow:
    """A refusal: the HTTP status, a reason for programs, and a sentence for people."""

    status: int
    reason: str
    details: str


class SnapshotRefused(Exception):
    """Raised by the rules and operations for snapshots.

    The web layer turns this exception into a response with the row's status and reason.

    Attributes:
        row: the error row to respond with.
        details: the sentence, the row's unless a fuller one was given. It never quotes a token.
        retry_after_s: whole seconds until the same request may pass, where that is known.
    """

    def __init__(self, row: FailureRow, details: str = "", retry_after_s: int | None = None) -> None:
        super().__init__(row.reason)
        self.row = row
        self.details = details or row.details
        self.retry_after_s = retry_after_s


BAD_REQUEST = FailureRow(400, "BAD_REQUEST", "the request cannot be read")
INVALID_CAR = FailureRow(400, "INVALID_CAR", "the upload is not a CAR v1 file of one whole snapshot")
UNAUTHORIZED = FailureRow(
    401,
    "UNAUTHORIZED",
    "send Authorization: Bearer and a UCAN invocation by the vault's key, in a container that begins with C",
)
TOKEN_EXPIRED = FailureRow(401, "TOKEN_EXPIRED", "the token has expired; make another one")
TOKEN_NOT_YET_VALID = FailureRow(
    401, "TOKEN_NOT_YET_VALID", "the token begins to hold later; compare the clock of the device that made it"
)
TOKEN_LIVES_TOO_LONG = FailureRow(
    401, "TOKEN_LIVES_TOO_LONG", "a token may live ten minutes at most; make one that expires sooner"
)
WRONG_AUDIENCE = FailureRow(401, "WRONG_AUDIENCE", "the token is addressed to another service")
WRONG_COMMAND = FailureRow(401, "WRONG_COMMAND", "the token is for another command")
WRONG_SUBJECT = FailureRow(401, "WRONG_SUBJECT", "the key that signed the token is not the key that the DID is made of")
TOKEN_REVOKED = FailureRow(401, "TOKEN_REVOKED", "the token was revoked; make another one")
TOKEN_USED = FailureRow(401, "TOKEN_USED", "the token has made another upload or pin before; make a token for each")
DID_NOT_REGISTERED = FailureRow(
    403, "DID_NOT_REGISTERED", "the DID is not registered at this service; register it first"
)
ATTESTATION_REFUSED = FailureRow(
    403,
    "ATTESTATION_REFUSED",
    "the attestation is not this service's, has expired or was used; verify the address again",
)
ANOTHER_DID = FailureRow(403, "ANOTHER_DID", "the snapshot belongs to another DID than the token's")
NAME_NOT_REGISTERED = FailureRow(
    403,
    "NAME_NOT_REGISTERED",
    "no snapshot kept here carries a delegation to this name's key and is what the record names; upload it first",
)
PIN_NOT_FOUND = FailureRow(404, "NOT_FOUND", "this DID has no such pin")
PATH_NOT_FOUND = FailureRow(404, "NOT_FOUND", "no such path")
BLOCK_NOT_FOUND = FailureRow(404, "NOT_FOUND", "the block is not kept here")
RECORD_NOT_FOUND = FailureRow(404, "NOT_FOUND", "no record of this name is kept here")
WRONG_METHOD = FailureRow(405, "METHOD_NOT_ALLOWED", "the path does not take this method; Allow lists those it takes")
NOT_ACCEPTABLE = FailureRow(
    406, "NOT_ACCEPTABLE", "only raw blocks and CAR v1 files are given out: format=raw, or format=car"
)
TOO_SLOW = FailureRow(408, "REQUEST_TIMEOUT", "the body did not arrive in time; send it again")
INSUFFICIENT_FUNDS = FailureRow(
    409, "INSUFFICIENT_FUNDS", "the DID has used up what it may keep here; delete older pins"
)
ADDRESS_TAKEN = FailureRow(409, "IDENTIFIER_TAKEN", "another DID holds this address")
TOO_MANY_ADDRESSES = FailureRow(
    409, "TOO_MANY_ADDRESSES", "the DID holds as many addresses as one may; free one of them first"
)
RECORD_DOES_NOT_RISE = FailureRow(
    409, "RECORD_DOES_NOT_RISE", "a record of this name with the same or a higher sequence is kept; fetch it first"
)
NOT_CACHED = FailureRow(412, "NOT_CACHED", "the block is not kept here, and the request asked for nothing else")
TOO_LARGE = FailureRow(413, "TOO_LARGE", "the body is larger than this path takes")
UNSUPPORTED_MEDIA = FailureRow(
    415, "UNSUPPORTED_MEDIA_TYPE", "the body has another type or encoding than this path takes"
)
RANGE_BEYOND_END = FailureRow(416, "RANGE_NOT_SATISFIABLE", "the range lies beyond the end of the block")
TOO_MANY_REQUESTS = FailureRow(429, "TOO_MANY_REQUESTS", "this address has sent too many; wait as Retry-After says")
INTERNAL_SERVER_ERROR = FailureRow(
    500, "INTERNAL_SERVER_ERROR", "the service failed; its log has the request ID that X-Request-Id carries"
)
STORE_UNAVAILABLE = FailureRow(
    503,
    "SERVICE_UNAVAILABLE",
    "the database or the storage of blocks cannot be reached; nothing was changed; try again",
)
OUT_OF_SPACE = FailureRow(
    507, "INSUFFICIENT_STORAGE", "the service has no room left; nothing was kept; tell its operator"
)

# Errors of DID resolution, with the names that resolvers share (W3C DID Resolution).
DID_INVALID = FailureRow(400, "invalidDid", "the text is not a DID")
DID_NOT_FOUND = FailureRow(404, "notFound", "the DID is neither on the chain nor registered here")
NOT_REPRESENTABLE = FailureRow(
    406, "representationNotSupported", "DIDs are resolved to JSON: application/did+ld+json, or application/ld+json"
)
DID_DEACTIVATED = FailureRow(410, "deactivated", "the DID is deactivated")
DID_METHOD_UNKNOWN = FailureRow(501, "methodNotSupported", "only DIDs of the method did:new are resolved here")
CHAIN_UNREACHABLE = FailureRow(502, "internalError", "the chain does not answer; ask again later")

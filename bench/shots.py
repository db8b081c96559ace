"""The benchmark's requests, as templates that `load.c` fills with digits."""

from __future__ import annotations

from dataclasses import dataclass

DIGITS = 12
NAME = b"\xdf"
_MARK = 0xE0
_RANDOM_MARK = 0xF0


def digits(first: int, last: int = DIGITS) -> bytes:
    """Return placeholders for the digits [first, last) of the request's number."""
    return bytes(_MARK + place for place in range(first, last))


def random_digits(first: int, last: int) -> bytes:
    """Return placeholders for the digits [first, last) of a number that is random in every request and every run."""
    return bytes(_RANDOM_MARK + place for place in range(first, last))


@dataclass(frozen=True, slots=True)
class Shot:
    """One kind of request, with its share of the traffic and the text that the body of a correct response contains."""

    route: str
    request: bytes
    expected: str
    rows: int = 0  # the row is random below this number; 0 counts rows up instead
    weight: int = 1
    names: tuple[str, ...] = ()  # a random one of them replaces NAME; every shot of a run has the same


# The handle, credential and DID in row N of a filled database; a 32-byte credential ID is 43 characters of base64url.
SEEDED_HANDLE = "user{:012d}"
SEEDED_CREDENTIAL = "holdfast-benchmark-credential-x" + "{:012d}"
SEEDED_DID = "did:new:0x" + "0" * 52 + "{:012d}"

# Each request claims one of 100 million random client addresses, so that no limit per address stops it.
ADDRESS = b".".join(b"1" + random_digits(place, place + 2) for place in range(0, 8, 2))
_HEAD = b"Host: localhost\r\nAccept: */*\r\nUser-Agent: bench\r\nX-Forwarded-For: " + ADDRESS + b"\r\n"


def _filled(template: str) -> bytes:
    return template.replace("{:012d}", "#").encode().replace(b"#", digits(0))


def _get(target: bytes) -> bytes:
    return b"GET " + target + b" HTTP/1.1\r\n" + _HEAD + b"\r\n"


def _post(target: bytes, body: bytes) -> bytes:
    length = str(len(body)).encode()
    extra = b"Content-Type: application/json\r\nContent-Length: " + length + b"\r\n\r\n"
    return b"POST " + target + b" HTTP/1.1\r\n" + _HEAD + extra + body


def contracts(weight: int = 1) -> Shot:
    """GET /api/contracts, whose response never changes."""
    return Shot("contracts", _get(b"/api/contracts"), '"entryPoint"', weight=weight)


def check(rows: int, weight: int = 1) -> Shot:
    """GET /api/sessions/check for handles, half of which are taken."""
    target = b"/api/sessions/check?identifier=" + _filled(SEEDED_HANDLE)
    return Shot("check", _get(target), '"available":', 2 * rows, weight)


def lookup(rows: int, weight: int = 1) -> Shot:
    """GET /api/dids/lookup for registered credentials."""
    target = b"/api/dids/lookup?credentialId=" + _filled(SEEDED_CREDENTIAL)
    return Shot("lookup", _get(target), '"found":true', rows, weight)


def register(weight: int = 1) -> Shot:
    """POST /api/sessions with a new handle for a new DID, from a new address."""
    did = _filled(SEEDED_DID)
    body = b'{"identifier":"new' + digits(0) + b'","channel":"handle","did":"' + did + b'"}'
    return Shot("register", _post(b"/api/sessions", body), '"ok":true', 0, weight)


def mixed(rows: int) -> list[Shot]:
    """Return a mix: of ten requests, four are checks, three look-ups, two registrations, and one for the contracts."""
    return [check(rows, 4), lookup(rows, 3), contracts(1), register(2)]


def mostly_reads(rows: int) -> list[Shot]:
    """Return a mix: of ten requests, four are checks, four look-ups, one a registration, and one for the contracts."""
    return [check(rows, 4), lookup(rows, 4), contracts(1), register(1)]

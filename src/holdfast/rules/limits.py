"""THE limits table: the interface's constants under their own names, and what the decisions add.

A setting of the same name overrides each documented one; `Limits` carries the effective values.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

HOUR_S = 3600
DAY_S = 24 * HOUR_S

# Interface, section "Limits".
MAX_REGISTRATIONS_PER_IP = 3
MAX_VERIFY_ATTEMPTS = 5
EMAIL_CODE_EXPIRY_SECONDS = 90
RATE_LIMIT_CODES_PER_IDENTIFIER = 5
MAX_VERIFY_SENDS_PER_IP = 3
ATTESTATION_TTL_SECONDS = 300

CODE_DIGITS = 6
SENDS_PER_IP_WINDOW_S = DAY_S
CODES_PER_IDENTIFIER_WINDOW_S = HOUR_S

MAX_BODY_BYTES = 64 * 1024
MAX_BUNDLER_BODY_BYTES = 512 * 1024
MAX_WORKFLOW_BODY_BYTES = 4 * 1024 * 1024
MAX_UPSTREAM_BYTES = 8 * 1024 * 1024
BODY_TIMEOUT_S = 20.0
CONNECTION_BUFFER_BYTES = 128 * 1024  # what the server keeps of a connection's bytes, each way
MAX_HTTP2_HEAD_BYTES = 64 * 1024
MAX_STREAMS = 32  # requests under way on one HTTP/2 connection
BACKLOG = 2048  # connections that the kernel takes before a process does
PROXY_TIMEOUT_S = 15.0
RPC_TIMEOUT_S = 10.0
CHAIN_CACHE_S = 2.0
CONFIRMATION_DEADLINE_S = DAY_S

MAX_IDENTIFIER_CHARACTERS = 320
MAX_HANDLE_CHARACTERS = 64
MAX_DID_CHARACTERS = 512
MAX_CREDENTIAL_ID_CHARACTERS = 1366
MAX_TX_HASH_CHARACTERS = 128

# Someone who asks for every code the hourly limit allows and spends every attempt guesses right at most once in
# this many hours; the interface's figures keep that above four years.
GUESSING_HOURS = 10**CODE_DIGITS // (MAX_VERIFY_ATTEMPTS * RATE_LIMIT_CODES_PER_IDENTIFIER)
assert GUESSING_HOURS >= 4 * 365 * 24


@dataclass(frozen=True, slots=True)
class Limits:
    """The documented limits as this service applies them; each field is the constant's name in lower case."""

    max_registrations_per_ip: int = MAX_REGISTRATIONS_PER_IP
    max_verify_attempts: int = MAX_VERIFY_ATTEMPTS
    email_code_expiry_seconds: int = EMAIL_CODE_EXPIRY_SECONDS
    rate_limit_codes_per_identifier: int = RATE_LIMIT_CODES_PER_IDENTIFIER
    max_verify_sends_per_ip: int = MAX_VERIFY_SENDS_PER_IP
    attestation_ttl_seconds: int = ATTESTATION_TTL_SECONDS


LIMIT_NAMES = tuple(field.name.upper() for field in fields(Limits))

"""The table of limits: the interface's constants, under the same names, and the limits that Holdfast adds.

A setting with the same name overrides the interface's limit. `Limits` holds the effective values.
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
SMS_CODE_EXPIRY_S = 600  # of Holdfast's own codes, as with most providers
SMS_ATTEMPTS_COUNTED_S = DAY_S  # longer than any provider accepts a code
SENDS_PER_IP_WINDOW_S = DAY_S
CODES_PER_IDENTIFIER_WINDOW_S = HOUR_S


# Limits that Holdfast adds where the interface has none (docs/decisions/0010-limits-added.md). Settings override these,
# too.
CREDENTIALS_PER_IDENTIFIER = 16
UNCONFIRMED_PER_IDENTIFIER = 8
DID_POSTS_PER_ADDRESS_DAY = 100
CHECKS_PER_ADDRESS_HOUR = 60
REFUSED_SENDS_PER_ADDRESS_DAY = 20
OPERATIONS_PER_ADDRESS_HOUR = 60  # sponsored or sent; one registration needs up to seven
KEYED_REQUESTS_PER_ADDRESS_DAY = 2000  # requests whose responses are stored for repeats
PERSON_REQUESTS_PER_ADDRESS_HOUR = 60  # for a copy, removal or address of a person
ADMIN_KEY_TRIES_PER_ADDRESS_HOUR = 30  # of wrong keys at the admin port
ADDRESSES_PER_DID = 10  # e-mail addresses and phone numbers that a DID holds
CHAIN_READS_PER_ADDRESS_MINUTE = 600  # a page that waits for a payment reads once a second
SMS_PER_NUMBER_HOUR = 5
SMS_PER_COUNTRY_DAY = 200
SMS_PER_DAY = 1000
ALL_COUNTRIES = "all"

NETWORK_FACTOR = 10  # a /48 of IPv6 may do ten times as much as a /64 in it
# Reserved for the address that requested a code or opened a session: attempts at the code, and places among the
# identifier's credentials.
RESERVED_FOR_REQUESTER = 1
# Expired rows stay this much longer, so that a clock that ran a day ahead and is set back finds the rows it expects.
CLOCK_MARGIN_S = DAY_S + HOUR_S
REFUSED_RETENTION_S = 30 * DAY_S  # how long a refused registration is retained for operators to inspect

MAX_IDEMPOTENCY_KEY_CHARACTERS = 128
MAX_STORED_RESPONSE_BYTES = 64 * 1024  # a larger response is not stored, so a repeat does the work again
RESPONSE_RETENTION_S = DAY_S
REPEAT_WAITS_S = 3.0  # how long a repeat waits for the first request's response

MAX_BODY_BYTES = 64 * 1024
MAX_BUNDLER_BODY_BYTES = 512 * 1024
MAX_WORKFLOW_BODY_BYTES = 512 * 1024  # signed; an unsigned call may have MAX_BODY_BYTES
MAX_UPSTREAM_BYTES = 8 * 1024 * 1024
UPSTREAM_ROOM_BYTES = 8 * MAX_UPSTREAM_BYTES  # of a process, for the large answers of bundlers and indexers
UPSTREAM_ROOM_WAITS_S = 5.0  # how long a large answer waits for room
UPSTREAM_ROOM_WAITING = 75  # that wait at once: three quarters of the connections to an upstream
BODY_TIMEOUT_S = 20.0
DROPPED_S = 2.0  # how long the rest of a refused body is read and dropped, so that its client reads the refusal
DROPPED_BYTES = 18 * 1024 * 1024
CONNECTION_BUFFER_BYTES = 128 * 1024  # buffered by the server for a connection, in each direction
MAX_HTTP2_HEAD_BYTES = 64 * 1024
MAX_STREAMS = 16  # concurrent requests on one HTTP/2 connection
SEND_TIMEOUT_S = 30
TAKEN_BYTES_PER_S = 4096  # a client takes at least this many of the bytes that wait for it
CONNECTIONS_PER_ADDRESS = 128
ADMIN_CONNECTIONS = 64  # at the admin port
LARGE_RESPONSE_BYTES = 128 * 1024  # a larger body is sent only as fast as the client takes it
STREAM_BUFFER_BYTES = 16 * 1024  # the same on HTTP/2, and the server's buffer for each stream
LARGE_RESPONSES = 128  # under way in a process; each occupies at most about 1.5 MB
LARGE_RESPONSES_PER_ADDRESS = 16
LARGE_RESPONSE_WAITS_S = 5.0  # for a place among them
LARGE_RESPONSE_S = 60.0  # for a whole large response, and in addition:
LARGE_RESPONSE_BYTES_PER_S = 64 * 1024
BACKLOG = 2048  # connections in the kernel's accept queue
PROXY_TIMEOUT_S = 15.0
CHAIN_CACHE_S = 2.0
CONFIRMATION_DEADLINE_S = DAY_S
CONFIRMATION_DEPTH = 12  # blocks on top; 24 s on Base
CONFIRM_EVERY_S = 15.0
CONFIRM_AT_LEAST_EVERY_S = HOUR_S
MAX_CONFIRMED_PER_TURN = 500
CONFIRM_TURN_S = 60.0  # shorter than the lease of that job

MAX_IDENTIFIER_CHARACTERS = 320
MAX_HANDLE_CHARACTERS = 64
MAX_DID_CHARACTERS = 512
MAX_CREDENTIAL_ID_CHARACTERS = 1366
MAX_TX_HASH_CHARACTERS = 128

# The average number of hours that guessing a code takes an attacker who requests as many codes as the hourly limit
# allows and uses all attempts. With the interface's values, guessing takes more than four years.
GUESSING_HOURS = 10**CODE_DIGITS // (MAX_VERIFY_ATTEMPTS * RATE_LIMIT_CODES_PER_IDENTIFIER)
assert GUESSING_HOURS >= 4 * 365 * 24


@dataclass(frozen=True, slots=True)
class Limits:
    """The interface's limits as this service applies them. Each field has the constant's name in lower case."""

    max_registrations_per_ip: int = MAX_REGISTRATIONS_PER_IP
    max_verify_attempts: int = MAX_VERIFY_ATTEMPTS
    email_code_expiry_seconds: int = EMAIL_CODE_EXPIRY_SECONDS
    rate_limit_codes_per_identifier: int = RATE_LIMIT_CODES_PER_IDENTIFIER
    max_verify_sends_per_ip: int = MAX_VERIFY_SENDS_PER_IP
    attestation_ttl_seconds: int = ATTESTATION_TTL_SECONDS


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The limits that Holdfast adds, as this service applies them. Each field has the constant's name in lower case.

    Attributes:
        sms_countries: ISO 3166-1 codes of the countries that are sent text messages, or ALL_COUNTRIES alone.
    """

    credentials_per_identifier: int = CREDENTIALS_PER_IDENTIFIER
    unconfirmed_per_identifier: int = UNCONFIRMED_PER_IDENTIFIER
    did_posts_per_address_day: int = DID_POSTS_PER_ADDRESS_DAY
    checks_per_address_hour: int = CHECKS_PER_ADDRESS_HOUR
    refused_sends_per_address_day: int = REFUSED_SENDS_PER_ADDRESS_DAY
    operations_per_address_hour: int = OPERATIONS_PER_ADDRESS_HOUR
    keyed_requests_per_address_day: int = KEYED_REQUESTS_PER_ADDRESS_DAY
    chain_reads_per_address_minute: int = CHAIN_READS_PER_ADDRESS_MINUTE
    sms_per_number_hour: int = SMS_PER_NUMBER_HOUR
    sms_per_country_day: int = SMS_PER_COUNTRY_DAY
    sms_per_day: int = SMS_PER_DAY
    sms_countries: tuple[str, ...] = (ALL_COUNTRIES,)


LIMIT_NAMES = tuple(field.name.upper() for field in fields(Limits))

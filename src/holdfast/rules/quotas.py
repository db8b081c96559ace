"""Quotas with sliding windows, which limit how often a subject may do something within a period.

A window for an IPv6 address applies to its /64 and, with ten times the limit, to the /48 that contains it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import TYPE_CHECKING

from holdfast.rules.addresses import network_of
from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import (
    ALL_COUNTRIES,
    CODES_PER_IDENTIFIER_WINDOW_S,
    DAY_S,
    HOUR_S,
    NETWORK_FACTOR,
    SENDS_PER_IP_WINDOW_S,
    Ceilings,
    Limits,
)
from holdfast.rules.phones import country_of
from holdfast.wire.errors import RATE_LIMITED, UNSUPPORTED_COUNTRY, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.rules.identifiers import Identifier


class Counted(StrEnum):
    """The counted events; their values are stored in the database."""

    SENDS = "sends"  # by address
    REFUSED_SENDS = "refused_sends"  # by address
    CODES = "codes"  # by e-mail address
    SMS_TO_NUMBER = "sms_to_number"
    SMS_TO_COUNTRY = "sms_to_country"
    SMS = "sms"  # in total
    CHECKS = "checks"  # by address
    DID_POSTS = "did_posts"  # by address
    OPERATIONS = "operations"  # by address
    KEYED_REQUESTS = "keyed_requests"  # by address
    UPLOADS = "uploads"  # of snapshots, by address
    PERSON_REQUESTS = "person_requests"  # for a copy or a removal of a person's rows, by address
    INVITATIONS = "invitations"  # uses of an invitation code, by its number
    ADMIN_KEYS = "admin_keys"  # wrong keys at the admin port, by address


GIVEN_BACK = frozenset(
    {
        Counted.SENDS,
        Counted.REFUSED_SENDS,
        Counted.CODES,
        Counted.SMS_TO_NUMBER,
        Counted.SMS_TO_COUNTRY,
        Counted.SMS,
        Counted.INVITATIONS,
    }
)  # events that may be taken back, depending on what a provider or a rule does


@dataclass(frozen=True, slots=True)
class Quota:
    """A sliding window: `subject` may do `what` at most `limit` times in any `window_s` seconds."""

    what: Counted
    subject: str
    limit: int
    window_s: int


def admit(full: Sequence[tuple[Quota, float | None]], now: float) -> None:
    """Refuse the request if any window is full. `retry_after_s` is the time until all windows are below their limits.

    Args:
        full: the full windows, each with the time of the event whose expiry makes room, in seconds since the
        epoch; None if the limit is 0.
        now: seconds since the epoch.

    Raises:
        Refused: RATE_LIMITED.
    """
    waits = [
        (min(quota.window_s, quota.window_s if at is None else at + quota.window_s - now), quota.what.value)
        for quota, at in full
    ]
    if waits:
        wait_s, limit = max(waits)
        raise Refused(RATE_LIMITED, retry_after_s=max(1, ceil(wait_s)), limit=limit)


def of_address(what: Counted, ip: str, limit: int, window_s: int) -> tuple[Quota, ...]:
    """Return the windows for an address: its own and, for IPv6, the larger one of the /48 that contains it."""
    own, network = Quota(what, ip, limit, window_s), network_of(ip)
    return (own,) if network is None else (own, Quota(what, network, NETWORK_FACTOR * limit, window_s))


def of_send(identifier: Identifier, ip: str, limits: Limits, ceilings: Ceilings) -> tuple[Quota, ...]:
    """Return all windows in which sending a code counts (interface: POST /api/verify/send, 429; docs/decisions/0010).

    Each request also counts in advance in the window for refused messages, so that parallel requests cannot exceed that
    window, and is subtracted again if the provider accepts the message.

    Raises:
        Refused: UNSUPPORTED_COUNTRY for a phone number of a country that is not served.
    """
    by_address = (
        *of_address(Counted.SENDS, ip, limits.max_verify_sends_per_ip, SENDS_PER_IP_WINDOW_S),
        *of_address(Counted.REFUSED_SENDS, ip, ceilings.refused_sends_per_address_day, DAY_S),
    )
    if identifier.channel is Channel.SMS:
        return (*by_address, *_of_text_message(identifier.key, ceilings))
    codes = limits.rate_limit_codes_per_identifier
    return (*by_address, Quota(Counted.CODES, identifier.key, codes, CODES_PER_IDENTIFIER_WINDOW_S))


def of_check(ip: str, ceilings: Ceilings) -> tuple[Quota, ...]:
    """Return the windows in which checking a code counts."""
    return of_address(Counted.CHECKS, ip, ceilings.checks_per_address_hour, HOUR_S)


def of_did_post(ip: str, ceilings: Ceilings) -> tuple[Quota, ...]:
    """Return the windows in which a POST /api/dids counts, whatever its result."""
    return of_address(Counted.DID_POSTS, ip, ceilings.did_posts_per_address_day, DAY_S)


def of_operation(ip: str, ceilings: Ceilings) -> tuple[Quota, ...]:
    """Return the windows for a request for which the bundler or paymaster charges the operator."""
    return of_address(Counted.OPERATIONS, ip, ceilings.operations_per_address_hour, HOUR_S)


def of_keyed_request(ip: str, ceilings: Ceilings) -> tuple[Quota, ...]:
    """Return the windows for a request with a new `Idempotency-Key`.

    The request counts because its response is stored.
    """
    return of_address(Counted.KEYED_REQUESTS, ip, ceilings.keyed_requests_per_address_day, DAY_S)


def _of_text_message(phone: str, ceilings: Ceilings) -> tuple[Quota, ...]:
    country = country_of(phone)
    if not {country, ALL_COUNTRIES} & set(ceilings.sms_countries):
        raise Refused(UNSUPPORTED_COUNTRY)
    return (
        Quota(Counted.SMS_TO_NUMBER, phone, ceilings.sms_per_number_hour, HOUR_S),
        Quota(Counted.SMS_TO_COUNTRY, country, ceilings.sms_per_country_day, DAY_S),
        Quota(Counted.SMS, "", ceilings.sms_per_day, DAY_S),
    )

"""Events for the operator's own systems: which rows of the audit are events, and when an event is sent again."""

from __future__ import annotations

from holdfast.rules.limits import DAY_S, HOUR_S

# What the audit records, and the event's type. A credential's own row records `registered`.
EVENT_OF = {
    "verified": "identifier.verified",
    "registered": "identifier.registered",
    "confirmed": "identifier.confirmed",
    "refused": "identifier.refused",
    "credential_revoked": "identifier.revoked",
    "credential_displaced": "identifier.revoked",
    "released": "identifier.released",
    "transferred": "identifier.transferred",
    "renamed": "identifier.renamed",
    "recovered": "identifier.recovered",
}
IN_AUDIT = tuple(action for action in EVENT_OF if action != "registered")

GIVE_UP_S = 3 * DAY_S  # the age at which an event that could not be delivered is dropped
POSTPONED_S = 2 * HOUR_S  # an event that is due even later was postponed by a clock that ran ahead, so it is due now
_FIRST_WAIT_S = 5.0
_DOUBLED = 10  # times at most; an hour is reached before


def next_try(now: float, tries: int) -> float:
    """Return when to send an event again.

    Args:
        now: when it could not be delivered, in seconds since the epoch.
        tries: how often that happened before.
    """
    return now + min(_FIRST_WAIT_S * (1 << min(tries, _DOUBLED)), HOUR_S)


def is_given_up(at: float, now: float) -> bool:
    """Return whether an event from `at` is too old to be sent again."""
    return now >= at + GIVE_UP_S


def subscription_of(receiver: str) -> str:
    """Return the name of the lease that a receiver's events are recorded under, while it lasts."""
    return f"events to {receiver}"


def type_of(action: str) -> str:
    """Return the event's type for an action of the audit, also for one that only a newer release records."""
    return EVENT_OF.get(action, f"identifier.{action}")

"""The PostgreSQL store's writes: encodes the arguments of database functions and decodes their results."""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from holdfast.rules.addresses import network_of
from holdfast.rules.one_time_codes import CountedAttempt
from holdfast.rules.quotas import admit
from holdfast.rules.registration import Claim, Confirmation, RegistrationFacts, SessionFacts, Stage
from holdfast.rules.shards import shard_of
from holdfast.service.store.postgresql.gatherer import Kind
from holdfast.wire.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asyncpg import Record

    from holdfast.rules.identifiers import Identifier
    from holdfast.rules.quotas import Quota
    from holdfast.rules.registration import Move, RegistrationBounds, SessionBounds
    from holdfast.service.store.port import NewAttempt, NewCode, NewRegistration, NewSession

Place: TypeAlias = tuple[int, str, str]
TOTAL_SLOTS = 64
_EVENT_BITS = 63


def new_number() -> int:
    """Return a random number that identifies a code, or an event in a window."""
    return secrets.randbits(_EVENT_BITS)


def place_of(identifier: Identifier) -> Place:
    """Return an identifier's shard, channel and key."""
    channel = identifier.channel.value
    return shard_of(channel, identifier.key), channel, identifier.key


def _call(function: str, arguments: int) -> str:
    """Return the statement that calls a database function with this many arguments."""
    return f"SELECT * FROM holdfast.{function}({', '.join(f'${n}' for n in range(1, arguments + 1))})"  # noqa: S608 - our own names


def _columns(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Return the columns of these rows, in the form that `unnest` needs."""
    return [list(column) for column in zip(*rows, strict=True)]


def _address(ip: str) -> tuple[str, int, str | None, int | None]:
    """Return an address and its network, each followed by its shard."""
    network = network_of(ip)
    return ip, shard_of(ip), network, None if network is None else shard_of(network)


def _slot() -> int:
    return random.randrange(TOTAL_SLOTS)  # noqa: S311 - spreads writes, hides nothing


# -- sessions ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionToOpen:
    """A session to open, its identifier's shard, channel and key, and the bounds in which the database may admit it."""

    session: NewSession
    place: Place
    bounds: SessionBounds


def _encode_sessions(batch: Sequence[SessionToOpen]) -> list[Any]:
    rows = []
    earlier: dict[str | None, int] = {}  # earlier sessions in this batch from the same address or network
    for asked in batch:
        session, bounds = asked.session, asked.bounds
        address = _address(session.ip)
        ip, network = address[0], address[2]
        of_ip, of_network = earlier.get(ip, 0), earlier.get(network, 0)
        rows.append((
            *asked.place, session.identifier.given, session.did, *address, session.now,
            bounds.own_from - of_ip, bounds.own_below - of_ip,
            bounds.around_from - of_network, bounds.around_below - of_network,
        ))  # fmt: skip
        earlier[ip] = of_ip + 1
        if network is not None:
            earlier[network] = of_network + 1
    return [*_columns(rows), _slot()]


def _decode_sessions(batch: Sequence[SessionToOpen], rows: list[Record]) -> list[SessionFacts | None]:
    results: list[SessionFacts | None] = [None] * len(batch)
    for n, done, did, stage, of_ip, of_network in rows:
        if not done:
            results[n - 1] = SessionFacts(_claim(did, stage), of_ip, of_network)
    return results


def _claim(did: str | None, stage: str | None) -> Claim | None:
    return None if did is None or stage is None else Claim(did, Stage(stage))


OPEN_SESSIONS = Kind(
    "open_session",
    _call("open_sessions_v2", 15),
    _encode_sessions,
    _decode_sessions,
)


# -- registrations -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RegistrationToMake:
    """A registration to write, with the rule's bounds or with the rule's decision on facts that were read earlier."""

    registration: NewRegistration
    bounds: RegistrationBounds | None
    decided: Move | None = None
    decided_on: SeenRegistration | None = None


@dataclass(frozen=True, slots=True)
class SeenRegistration:
    """A registration's facts, and the text from which the database can tell whether they are still true."""

    facts: RegistrationFacts
    seen: str


def _encode_registrations(batch: Sequence[RegistrationToMake]) -> list[Any]:
    return [*_columns(map(_registration_row, batch)), _slot()]


def _registration_row(asked: RegistrationToMake) -> Sequence[Any]:
    new, request = asked.registration, asked.registration.asked
    signature, expires_at = new.attestation or (None, None)
    return (
        *place_of(new.identifier), new.identifier.given, request.did, *_address(new.ip), new.now,
        request.credential_id, shard_of(request.credential_id), request.tx_hash, request.block_number,
        request.smart_account, new.confirmation.value,
        None if new.confirmation is Confirmation.PENDING else new.now,
        signature, None if signature is None else shard_of(signature), expires_at,
        *_bounds_of(asked),
    )  # fmt: skip


def _bounds_of(asked: RegistrationToMake) -> Sequence[Any]:
    if asked.decided_on is not None and asked.decided is not None:
        # The bounds admit a new claim only if no other claim was counted for the address or network in the meantime.
        facts = asked.decided_on.facts
        own, around = facts.registrations_from_ip + 1, facts.registrations_from_network + 1
        return (False, own, around, None, None, asked.decided.value, asked.decided_on.seen)
    if asked.bounds is not None:
        bounds = asked.bounds
        return (
            bounds.reserved, bounds.own_below, bounds.around_below, bounds.credentials_below,
            bounds.unconfirmed_below, None, None,
        )  # fmt: skip
    return (None,) * 7


def _decode_registrations(batch: Sequence[RegistrationToMake], rows: list[Record]) -> list[SeenRegistration | None]:
    results: list[SeenRegistration | None] = [None] * len(batch)
    for n, done, did, stage, of_ip, of_network, registered, used, credentials, unconfirmed, seen in rows:
        if not done:
            facts = RegistrationFacts(
                claim=_claim(did, stage),
                registrations_from_ip=of_ip,
                credential_registered=registered,
                attestation_used=used,
                registrations_from_network=of_network,
                credentials=credentials,
                unconfirmed=unconfirmed,
            )
            results[n - 1] = SeenRegistration(facts, seen)
    return results


REGISTER = Kind(
    "register",
    _call("register_v1", 28),
    _encode_registrations,
    _decode_registrations,
)


# -- windows -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChargeToMake:
    """An event to count in windows; `event` is its number."""

    quotas: Sequence[Quota]
    now: float
    event: int


@dataclass(frozen=True, slots=True)
class ChargeMade:
    """A counted event, kept so that the count can be undone."""

    event: int
    windows: tuple[tuple[str, str], ...]


def _window_rows(charges: Iterable[ChargeToMake]) -> list[tuple[Any, ...]]:
    return [
        (n, shard_of(quota.what.value, quota.subject), quota.what.value, quota.subject, quota.limit,
         float(quota.window_s), charge.now, charge.event)
        for n, charge in enumerate(charges, 1)
        for quota in charge.quotas
    ]  # fmt: skip


def _window_columns(charges: Iterable[ChargeToMake]) -> list[list[Any]]:
    rows = _window_rows(charges)
    return _columns(rows) if rows else [[] for _ in range(8)]


def _refusals(charges: Sequence[ChargeToMake], rows: Iterable[Iterable[Any]]) -> dict[int, Exception]:
    """Return the rule's refusal for each charge that has a full window, keyed by the charge's number."""
    windows = [(quota, charge.now) for charge in charges for quota in charge.quotas]
    full: dict[int, list[tuple[Quota, float | None]]] = {}
    for n, nth, frees_at in rows:
        full.setdefault(n, []).append((windows[nth - 1][0], frees_at))
    return {n: _refusal(quotas, charges[n - 1].now) for n, quotas in full.items()}


def _refusal(full: Sequence[tuple[Quota, float | None]], now: float) -> Exception:
    try:
        admit(full, now)
    except Refused as refused:
        return refused
    raise AssertionError("the rule admits what the database found full")


def _decode_charges(batch: Sequence[ChargeToMake], rows: list[Record]) -> list[Any]:
    refused = _refusals(batch, rows)
    return [refused.get(n, charge_made(charge)) for n, charge in enumerate(batch, 1)]


def charge_made(charge: ChargeToMake) -> ChargeMade:
    """Return the value with which the count of a charge can be undone."""
    return ChargeMade(charge.event, tuple((quota.what.value, quota.subject) for quota in charge.quotas))


CHARGE = Kind(
    "charge",
    _call("charge_windows_v1", 8),
    _window_columns,
    _decode_charges,
)


def _encode_given_back(batch: Sequence[tuple[int, Sequence[tuple[str, str]]]]) -> list[list[Any]]:
    return _columns(
        (shard_of(what, subject), what, subject, event) for event, windows in batch for what, subject in windows
    )


def _nothing(batch: Sequence[Any], _rows: list[Record]) -> list[None]:
    return [None] * len(batch)


GIVE_BACK = Kind("give_back", _call("give_back_v1", 4), _encode_given_back, _nothing, repeatable=True)


# -- codes -------------------------------------------------------------------------------------------------------------


def _encode_codes(batch: Sequence[tuple[NewCode, int]]) -> list[list[Any]]:
    return _columns(
        (*place_of(code.identifier), number, code.digest, code.now, code.expires_at, code.ip) for code, number in batch
    )


KEEP_CODES = Kind("keep_code", _call("keep_codes_v1", 8), _encode_codes, _nothing)


@dataclass(frozen=True, slots=True)
class AttemptToCount:
    """An attempt at a code, and the charge that counts the attempt in windows."""

    attempt: NewAttempt
    charge: ChargeToMake


def _encode_attempts(batch: Sequence[AttemptToCount]) -> list[list[Any]]:
    attempts = [asked.attempt for asked in batch]
    rows = [(*place_of(one.identifier), one.ip, one.now, one.limit) for one in attempts]
    return [*_columns(rows), *_window_columns(asked.charge for asked in batch)]


def _decode_attempts(batch: Sequence[AttemptToCount], rows: list[Record]) -> list[Any]:
    full = [(n, nth, frees_at) for n, nth, frees_at, *_ in rows if nth is not None]
    results: list[Any] = [None] * len(batch)
    for n, nth, _, code_id, digest, expires_at, number in rows:
        if nth is None:
            results[n - 1] = CountedAttempt(code_id, digest, expires_at, number)
    for n, refused in _refusals([asked.charge for asked in batch], full).items():
        results[n - 1] = refused
    return results


COUNT_ATTEMPTS = Kind(
    "count_attempt",
    _call("attempt_codes_v1", 14),
    _encode_attempts,
    _decode_attempts,
)


def _encode_consumed(batch: Sequence[tuple[Identifier, int, float]]) -> list[list[Any]]:
    return _columns((*place_of(identifier), code_id, now) for identifier, code_id, now in batch)


def _decode_consumed(batch: Sequence[Any], rows: list[Record]) -> list[bool]:
    won = {row[0] for row in rows}
    return [n in won for n in range(1, len(batch) + 1)]


CONSUME_CODES = Kind("consume_code", _call("consume_codes_v1", 5), _encode_consumed, _decode_consumed)


def _encode_verified(batch: Sequence[tuple[Identifier, float]]) -> list[list[Any]]:
    return _columns((*place_of(identifier), now) for identifier, now in batch)


MARK_VERIFIED = Kind("mark_verified", _call("mark_verified_v1", 4), _encode_verified, _nothing)


# -- one at a time -----------------------------------------------------------------------------------------------------


def _single(name: str, statement: str, *, repeatable: bool = False) -> Kind:
    """Return a kind of request that is never batched; its result is the first value of the first row."""
    return Kind(name, statement, lambda batch: batch[0], lambda _batch, rows: [rows[0][0]], 1, repeatable)


PUT_OFF = _single("put_off", _call("put_off_v1", 3), repeatable=True)
SETTLE = _single("settle", _call("settle_v1", 5))
EXPIRE = _single("expire", _call("expire_v1", 4), repeatable=True)
TAKE_LEASE = _single("take_lease", _call("take_lease_v1", 4), repeatable=True)
RELEASE = _single("release", _call("release_v1", 4))
REVOKE = _single("revoke_credential", _call("revoke_credential_v1", 3))

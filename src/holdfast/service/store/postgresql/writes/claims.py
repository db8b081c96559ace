"""Sessions and registrations: the rule's bounds go to the database, and facts that they do not admit come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.rules.registration import Claim, Confirmation, RegistrationFacts, SessionFacts, Stage
from holdfast.rules.shards import shard_of
from holdfast.service.store.postgresql.batches import Kind
from holdfast.service.store.postgresql.writes.arguments import Place, address_of, call, columns, place_of, slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asyncpg import Record

    from holdfast.rules.registration import Move, RegistrationBounds, SessionBounds
    from holdfast.service.store.values import NewRegistration, NewSession


class SessionToOpen(msgspec.Struct, frozen=True, gc=False):
    """A session to open, its identifier's shard, channel and key, and the bounds in which the database may admit it."""

    session: NewSession
    place: Place
    bounds: SessionBounds


def _encode_sessions(batch: Sequence[SessionToOpen]) -> list[Any]:
    rows = []
    earlier: dict[str | None, int] = {}  # earlier sessions in this batch from the same address or network
    for asked in batch:
        session, bounds = asked.session, asked.bounds
        address = address_of(session.ip)
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
    return [*columns(rows), slot()]


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
    call("open_sessions_v1", 15),
    _encode_sessions,
    _decode_sessions,
)


class RegistrationToMake(msgspec.Struct, frozen=True, gc=False):
    """A registration to write, with the rule's bounds or with the rule's decision on facts that were read earlier."""

    registration: NewRegistration
    bounds: RegistrationBounds | None
    decided: Move | None = None
    decided_on: SeenRegistration | None = None


class SeenRegistration(msgspec.Struct, frozen=True, gc=False):
    """A registration's facts, and the text from which the database can tell whether they are still true."""

    facts: RegistrationFacts
    seen: str


def _encode_registrations(batch: Sequence[RegistrationToMake]) -> list[Any]:
    return [*columns(map(_registration_row, batch)), slot()]


def _registration_row(asked: RegistrationToMake) -> Sequence[Any]:
    new, request = asked.registration, asked.registration.asked
    signature, expires_at = new.attestation or (None, None)
    return (
        *place_of(new.identifier), new.identifier.given, request.did, *address_of(new.ip), new.now,
        request.credential_id, shard_of(request.credential_id), request.tx_hash, request.block_number,
        request.smart_account, new.confirmation.value,
        None if new.confirmation is Confirmation.PENDING else new.now,
        signature, None if signature is None else shard_of(signature), expires_at,
        *_bounds_of(asked), new.signed,
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
    for n, done, did, stage, of_ip, of_network, registered, used, *counts, from_opener, seen in rows:
        if not done:
            facts = RegistrationFacts(
                claim=_claim(did, stage),
                registrations_from_ip=of_ip,
                credential_registered=registered,
                attestation_used=used,
                registrations_from_network=of_network,
                credentials=counts[0],
                unconfirmed=counts[1],
                signed=counts[2],
                signed_unconfirmed=counts[3],
                from_opener=from_opener,
            )
            results[n - 1] = SeenRegistration(facts, seen)
    return results


REGISTER = Kind(
    "register",
    call("register_v1", 29),
    _encode_registrations,
    _decode_registrations,
)

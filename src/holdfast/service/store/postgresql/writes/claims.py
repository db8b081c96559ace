"""Sessions and registrations: the rule's bounds go to the database, and facts that they do not admit come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.rules.bans import subjects_of
from holdfast.rules.registration import Claim, RegistrationFacts, SessionFacts, Stage
from holdfast.rules.shards import shard_of
from holdfast.service.store.postgresql.batches import Kind
from holdfast.service.store.postgresql.writes.arguments import ClaimKey, address_of, call, claim_key_of, columns, slot
from holdfast.service.store.registration_columns import row_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asyncpg import Record

    from holdfast.rules.registration import Move, RegistrationBounds, SessionBounds
    from holdfast.service.store.values import LateTransaction, NewRegistration, NewSession


class SessionToOpen(msgspec.Struct, frozen=True, gc=False):
    """A session to open, its identifier's shard, channel and key, and the bounds in which the database may admit it.

    `bannable`: the subjects of all bans that would concern it; None while no ban is known, because they are many.
    """

    session: NewSession
    claim_key: ClaimKey
    bounds: SessionBounds
    bannable: tuple[str, ...] | None = None


class SubjectsNeeded:
    """There are bans: the session must be asked for with all subjects."""


SUBJECTS_NEEDED = SubjectsNeeded()


def _encode_sessions(batch: Sequence[SessionToOpen]) -> list[Any]:
    rows = []
    earlier: dict[str | None, int] = {}  # earlier sessions in this batch from the same address or network
    for item in batch:
        session, bounds = item.session, item.bounds
        address = address_of(session.ip)
        ip, network = address[0], address[2]
        of_ip, of_network = earlier.get(ip, 0), earlier.get(network, 0)
        rows.append((
            *item.claim_key, session.identifier.given, session.did, *address, session.now,
            bounds.own_from - of_ip, bounds.own_below - of_ip,
            bounds.around_from - of_network, bounds.around_below - of_network,
        ))  # fmt: skip
        earlier[ip] = of_ip + 1
        if network is not None:
            earlier[network] = of_network + 1
    return [*columns(rows), slot(), *_bannable(batch)]


def _bannable(batch: Sequence[SessionToOpen]) -> list[list[Any] | None]:
    if any(item.bannable is None for item in batch):
        return [None, None]
    subjects = [(n, subject) for n, item in enumerate(batch, 1) for subject in item.bannable or ()]
    return [[n for n, _ in subjects], [subject for _, subject in subjects]]


def _decode_sessions(batch: Sequence[SessionToOpen], rows: list[Record]) -> list[SessionFacts | SubjectsNeeded | None]:
    results: list[SessionFacts | SubjectsNeeded | None] = [None] * len(batch)
    for n, done, did, stage, of_ip, of_network, banned in rows:
        if done is None:
            results[n - 1] = SUBJECTS_NEEDED
        elif not done:
            results[n - 1] = SessionFacts(_claim(did, stage), of_ip, of_network, banned)
    return results


def _claim(did: str | None, stage: str | None) -> Claim | None:
    return None if did is None or stage is None else Claim(did, Stage(stage))


OPEN_SESSIONS = Kind(
    "open_session",
    call("open_sessions_v1", 17),
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
    rows = [{"n": n, **_registration_row(item)} for n, item in enumerate(batch, 1)]
    return [msgspec.json.encode(rows).decode(), slot()]


def _registration_row(item: RegistrationToMake) -> dict[str, Any]:
    """Return the stored columns and the attributes of `registration_v1`, by their names."""
    new = item.registration
    shard, _, key = claim_key_of(new.identifier)
    ip, ip_shard, network, network_shard = address_of(new.ip)
    return {
        **_bounds_of(item),
        **row_of(new),
        "shard": shard,
        "key": key,
        "credential_shard": shard_of(new.request.credential_id),
        "bans": subjects_of(new.identifier, new.request.did, new.network),
        "ip": ip,
        "ip_shard": ip_shard,
        "network": network,
        "network_shard": network_shard,
        **_attestation_of(new),
    }


def _attestation_of(new: NewRegistration) -> dict[str, Any]:
    if new.attestation is None:
        return {}
    signature, expires_at = new.attestation
    return {
        "signature": rf"\x{signature.hex()}",
        "signature_shard": shard_of(signature),
        "signature_expires_at": expires_at,
    }


def _bounds_of(item: RegistrationToMake) -> dict[str, Any]:
    if item.decided_on is not None and item.decided is not None:
        # The bounds admit a new claim only if no other claim was counted for the address or network in the meantime.
        facts = item.decided_on.facts
        return {
            "own_below": facts.registrations_from_ip + 1,
            "around_below": facts.registrations_from_network + 1,
            "decided": item.decided.value,
            "decided_on": item.decided_on.seen,
        }
    return {} if item.bounds is None else msgspec.structs.asdict(item.bounds)


def _decode_registrations(batch: Sequence[RegistrationToMake], rows: list[Record]) -> list[SeenRegistration | None]:
    results: list[SeenRegistration | None] = [None] * len(batch)
    for n, did, stage, *facts, seen, move in rows:
        if move is None:
            results[n - 1] = SeenRegistration(RegistrationFacts(_claim(did, stage), *facts), seen)
    return results


REGISTER = Kind(
    "register",
    call("register_v1", 2),
    _encode_registrations,
    _decode_registrations,
)


def _encode_transaction(batch: Sequence[LateTransaction]) -> list[Any]:
    late = batch[0]
    channel, key = late.identifier.channel.value, late.identifier.key
    return [
        *(shard_of(late.credential), late.credential, channel, key, late.did, late.instead_of),
        *(late.tx_hash, late.smart_account, late.block_number, late.now),
    ]


ADD_TRANSACTION = Kind(
    "add_transaction",
    call("add_transaction_v1", 10),
    _encode_transaction,
    lambda _batch, rows: [bool(rows[0][1])],
    1,
)

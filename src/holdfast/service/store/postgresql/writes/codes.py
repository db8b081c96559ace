"""One-time codes: stores them, counts attempts, consumes them and records what was verified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.rules.one_time_codes import CountedAttempt
from holdfast.service.store.postgresql.batches import Kind
from holdfast.service.store.postgresql.writes.arguments import call, claim_key_of, columns, nothing
from holdfast.service.store.postgresql.writes.charges import ChargeToMake, refusals, window_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asyncpg import Record

    from holdfast.rules.identifiers import Identifier
    from holdfast.service.store.values import NewAttempt, NewCode


def _encode_codes(batch: Sequence[tuple[NewCode, int]]) -> list[list[Any]]:
    return columns(
        (*claim_key_of(code.identifier), number, code.digest, code.now, code.expires_at, code.ip, code.same_until)
        for code, number in batch
    )


KEEP_CODES = Kind("keep_code", call("keep_codes_v1", 9), _encode_codes, nothing)


@dataclass(frozen=True, slots=True)
class AttemptToCount:
    """An attempt at a code, and the charge that counts the attempt in windows."""

    attempt: NewAttempt
    charge: ChargeToMake


def _encode_attempts(batch: Sequence[AttemptToCount]) -> list[list[Any]]:
    attempts = [item.attempt for item in batch]
    rows = [(*claim_key_of(one.identifier), one.ip, one.now, one.limit) for one in attempts]
    return [*columns(rows), *window_columns(item.charge for item in batch)]


def _decode_attempts(batch: Sequence[AttemptToCount], rows: list[Record]) -> list[Any]:
    full = [(n, nth, frees_at) for n, nth, frees_at, *_ in rows if nth is not None]
    results: list[Any] = [None] * len(batch)
    for n, nth, _, code_id, digest, expires_at, number in rows:
        if nth is None:
            results[n - 1] = CountedAttempt(code_id, digest, expires_at, number)
    for n, refused in refusals([item.charge for item in batch], full).items():
        results[n - 1] = refused
    return results


COUNT_ATTEMPTS = Kind(
    "count_attempt",
    call("attempt_codes_v1", 14),
    _encode_attempts,
    _decode_attempts,
)


def _encode_consumed(batch: Sequence[tuple[Identifier, int, float]]) -> list[list[Any]]:
    return columns((*claim_key_of(identifier), code_id, now) for identifier, code_id, now in batch)


def _decode_consumed(batch: Sequence[Any], rows: list[Record]) -> list[bool]:
    won = {row[0] for row in rows}
    return [n in won for n in range(1, len(batch) + 1)]


CONSUME_CODES = Kind("consume_code", call("consume_codes_v1", 5), _encode_consumed, _decode_consumed)


def _encode_verified(batch: Sequence[tuple[Identifier, float]]) -> list[list[Any]]:
    return columns((*claim_key_of(identifier), now) for identifier, now in batch)


MARK_VERIFIED = Kind("mark_verified", call("mark_verified_v1", 4), _encode_verified, nothing)

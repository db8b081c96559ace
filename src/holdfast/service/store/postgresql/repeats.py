"""Responses stored for repeated requests, alone or in the transaction of the effect that they report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from holdfast.rules.shards import shard_of
from holdfast.service.store.postgresql.batches import Kind, rows_of, value_of
from holdfast.service.store.postgresql.writes import claims, codes
from holdfast.service.store.postgresql.writes.arguments import call
from holdfast.service.store.values import IdempotencyState

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from asyncpg import Record

    from holdfast.service.store.postgresql.batches import Argument, Result
    from holdfast.service.store.postgresql.writes.codes import AttemptToCount
    from holdfast.service.store.values import NewRepeat, StoredResponse

    Request: TypeAlias = tuple[Kind[Any, Result], Any, Sequence[Hashable]]


def _with_answers(kind: Kind[Any, Any], arguments: int, effect: str | None) -> Kind[Any, Any]:
    """Return a kind of request that also stores a response, if `effect` is true for the result row `f`.

    `effect` is None if the database function returns nothing and always succeeds.
    """
    called = kind.statement.removeprefix("SELECT * FROM ")
    shards, keys, answers = (f"${arguments + n}::{of}[]" for n, of in ((1, "smallint"), (2, "bytea"), (3, "bytea")))
    if effect is None:
        statement = (
            f"SELECT {called}, (SELECT bool_and(holdfast.keep_answer_v1(s, k, a))"  # noqa: S608 - our own names
            f" FROM unnest({shards}, {keys}, {answers}) AS w (s, k, a))"
        )
    else:
        keep = f"holdfast.keep_answer_v1(({shards})[f.n], ({keys})[f.n], ({answers})[f.n])"
        statement = f"SELECT f.*, CASE WHEN {effect} THEN {keep} END FROM {called} AS f"  # noqa: S608 - our own names
    return Kind(f"{kind.name} kept", statement, _encoder(kind), _decoder(kind), kind.most)


def _encoder(kind: Kind[Any, Any]) -> Any:
    def encode(batch: Sequence[tuple[Any, StoredResponse]]) -> list[Any]:
        responses = [answer for _, answer in batch]
        return [*kind.encode([item for item, _ in batch]), *_columns_of(responses)]

    return encode


def _columns_of(responses: Sequence[StoredResponse]) -> list[list[Any]]:
    return [[shard_of(one.key) for one in responses], [one.key for one in responses], [one.answer for one in responses]]


def _decoder(kind: Kind[Any, Any]) -> Any:
    def decode(batch: Sequence[tuple[Any, StoredResponse]], rows: list[Record]) -> Sequence[Any]:
        return kind.decode([item for item, _ in batch], [tuple(row)[:-1] for row in rows])  # type: ignore[misc]

    return decode


KEEPING: dict[Kind[Any, Any], Kind[Any, Any]] = {
    claims.OPEN_SESSIONS: _with_answers(claims.OPEN_SESSIONS, 17, "f.done"),
    claims.REGISTER: _with_answers(claims.REGISTER, 2, "f.move IS NOT NULL"),
    claims.ADD_TRANSACTION: _with_answers(claims.ADD_TRANSACTION, 10, "f.done"),
    codes.KEEP_CODES: _with_answers(codes.KEEP_CODES, 9, None),
    codes.CONSUME_CODES: _with_answers(codes.CONSUME_CODES, 5, "true"),
    codes.MARK_VERIFIED: _with_answers(codes.MARK_VERIFIED, 4, None),
}


def storing(
    response: StoredResponse | None, kind: Kind[Argument, Result], argument: Argument, keys: Sequence[Hashable]
) -> Request[Result]:
    """Return the request that also stores, in the same transaction, the response that reports it."""
    if response is None:
        return kind, argument, keys
    return KEEPING[kind], (argument, response), (*keys, response.key)


def _encode_attempts(batch: Sequence[AttemptToCount]) -> list[Any]:
    keys = [item.attempt.repeat or b"" for item in batch]
    return [*codes.COUNT_ATTEMPTS.encode(batch), [shard_of(key) for key in keys], keys]


def _decode_attempts(batch: Sequence[AttemptToCount], rows: list[Record]) -> Sequence[Any]:
    return codes.COUNT_ATTEMPTS.decode(batch, [tuple(row)[:-1] for row in rows])  # type: ignore[misc]


NOTE_ATTEMPTS = Kind(
    "count_attempt noted",
    "SELECT f.*, CASE WHEN f.nth IS NULL"  # noqa: S608 - our own names
    " THEN holdfast.note_attempt_v1(($15::smallint[])[f.n], ($16::bytea[])[f.n], f.id, f.number) END FROM "
    + codes.COUNT_ATTEMPTS.statement.removeprefix("SELECT * FROM ")
    + " AS f",
    _encode_attempts,
    _decode_attempts,
)


def begin_arguments(one: NewRepeat) -> list[object]:
    """Return the arguments of BEGIN."""
    return [shard_of(one.key), one.key, list(one.bodies), one.now, one.lease_s, one.retention_s]


BEGIN = rows_of(
    "begin",
    call("begin_answer_v1", 6),
    lambda mine, body, answer, code_id, number: IdempotencyState(
        mine, body, answer, None if code_id is None else (code_id, number)
    ),
    repeatable=False,
)
FINISH = value_of("finish", "SELECT holdfast.finish_answer_v1($1, $2, $3)", lambda answer: answer, repeatable=True)
EXPIRE = value_of("expire answers", "SELECT holdfast.expire_answers_v1($1, $2)", int, repeatable=True)

"""Responses that the embedded store keeps for repeated requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from holdfast.service.store.port import Overtaken
from holdfast.service.store.sqlite.charges import charge
from holdfast.service.store.values import IdempotencyState

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from holdfast.rules.one_time_codes import CountedAttempt
    from holdfast.service.store.values import NewRepeat, StoredResponse

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")
_FAR = 10  # a lease that ends this many times its length from now was set by a wrong clock


def begin(connection: Connection, repeat: NewRepeat) -> IdempotencyState:
    """Record that a request has begun; see Store."""
    row = connection.execute(
        "SELECT body, answer, code_id, attempt, leased_until FROM idempotent_responses"
        " WHERE key = ? AND expires_at > ?",
        (repeat.key, repeat.now),
    ).fetchone()
    if row is None:
        charge(connection, repeat.quotas, repeat.now)
        return _insert(connection, repeat)
    body, answer, code_id, number, leased_until = row
    waits = repeat.now < leased_until <= repeat.now + _FAR * repeat.lease_s
    mine = answer is None and not waits and body in repeat.bodies
    if mine:
        connection.execute(
            "UPDATE idempotent_responses SET leased_until = ? WHERE key = ?", (repeat.now + repeat.lease_s, repeat.key)
        )
    return IdempotencyState(mine, body, answer, None if code_id is None else (code_id, number))


def _insert(connection: Connection, repeat: NewRepeat) -> IdempotencyState:
    connection.execute(
        "INSERT OR REPLACE INTO idempotent_responses (key, body, leased_until, expires_at) VALUES (?, ?, ?, ?)",
        (repeat.key, repeat.bodies[0], repeat.now + repeat.lease_s, repeat.now + repeat.retention_s),
    )
    return IdempotencyState(mine=True, body=repeat.bodies[0], answer=None, attempt=None)


def finish(connection: Connection, key: bytes, answer: bytes | None) -> bytes | None:
    """Store a response unless one is already stored; see Store."""
    connection.execute(
        "UPDATE idempotent_responses SET answer = ?, leased_until = 0 WHERE key = ? AND answer IS NULL", (answer, key)
    )
    row = connection.execute("SELECT answer FROM idempotent_responses WHERE key = ?", (key,)).fetchone()
    return row[0] if row else answer


def keeping(
    connection: Connection,
    response: StoredResponse,
    work: Callable[[Connection, *Arguments], T],
    *arguments: *Arguments,
) -> T:
    """Do the work, and store its response in the same transaction, unless the work returns False."""
    result = work(connection, *arguments)
    if result is not False:
        _change(connection, response.key, "answer = ?", (response.answer,), "answer IS NULL")
    return result


def note_attempt(connection: Connection, key: bytes, counted: CountedAttempt) -> None:
    """Record which attempt was counted for a request. Raises Overtaken if another attempt was already recorded."""
    values = (counted.code_id, counted.attempts)
    _change(connection, key, "code_id = ?, attempt = ?", values, "answer IS NULL AND code_id IS NULL")


def _change(connection: Connection, key: bytes, change: str, values: tuple[object, ...], only: str) -> None:
    statement = f"UPDATE idempotent_responses SET {change} WHERE key = ? AND {only}"  # noqa: S608 - our own columns
    if connection.execute(statement, (*values, key)).rowcount == 0 and _is_there(connection, key):
        raise Overtaken


def _is_there(connection: Connection, key: bytes) -> bool:
    return connection.execute("SELECT 1 FROM idempotent_responses WHERE key = ?", (key,)).fetchone() is not None

"""Checks whether a recorded history is linearizable, with the algorithm of Wing, Gong and Lowe.

Keys are independent of each other, so the history of each key is checked separately. A search tries the operations in
every order that real time allows, and remembers which pairs of finished operations and state it has already visited
(Wing and Gong 1993; Lowe 2017). Only two or three clients should share a key: with more, some order explains almost any
response.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

UNKNOWN = "unknown"  # no response arrived: the operation may take effect at any time after its call, or never
ATTEMPTS = 5
PER_ADDRESS = 3


@dataclass(frozen=True, slots=True)
class Operation:
    """One request and its result, as the client saw them.

    Attributes:
        call: when it was sent, in seconds of a monotonic clock.
        back: when its response arrived, on the same clock; infinity if none did.
        name: the operation's name in the model.
        value: what was written or requested.
        result: what the response said, or UNKNOWN.
    """

    call: float
    back: float
    name: str
    value: Any
    result: Any

    @property
    def answered(self) -> bool:
        return self.back != inf


def linearizable(
    history: Sequence[Operation], step: Callable[[Any, Operation], Iterable[Hashable]], start: Hashable
) -> bool:
    """Return whether there is an order of the operations in which `step` allows each result.

    `step(state, operation)` returns the states that may follow: none if the result is impossible.
    """
    operations = sorted(history, key=lambda operation: operation.call)
    must = sum(1 << n for n, operation in enumerate(operations) if operation.answered)
    first = (0, start)
    seen, waiting = {first}, [first]
    while waiting:
        done, state = waiting.pop()
        if done & must == must:
            return True
        for n in _possible_next(operations, done):
            for after in step(state, operations[n]):
                found = (done | 1 << n, after)
                if found not in seen:
                    seen.add(found)
                    waiting.append(found)
    return False


def _possible_next(operations: Sequence[Operation], done: int) -> list[int]:
    """Return the remaining operations that were called before any of the remaining operations had returned."""
    earliest, found = inf, []
    for n, operation in enumerate(operations):
        if operation.call > earliest:
            break
        if not done >> n & 1:
            found.append(n)
            earliest = min(earliest, operation.back)
    return [n for n in found if operations[n].call <= earliest]


def owner(state: str | None, operation: Operation) -> Iterable[str | None]:
    """Model of an identifier or a credential: the first claimant is the owner, and a read returns the owner."""
    if operation.name == "read":
        return (state,) if operation.result == state else ()
    if operation.result == UNKNOWN:
        return (operation.value,) if state is None else ()
    if operation.result == "won":
        return (operation.value,) if state is None else ()
    return (state,) if state is not None else ()


def address(state: int, operation: Operation) -> Iterable[int]:
    """Model of an IP address: at most three registrations succeed, and a read returns their number."""
    if operation.name == "read":
        return (state,) if operation.result == state else ()
    if operation.result == "refused":
        return (state,) if state >= PER_ADDRESS else ()
    return (state + 1,) if state < PER_ADDRESS else ()


def code(state: tuple[str, int] | None, operation: Operation) -> Iterable[tuple[str, int] | None]:
    """Model of a one-time code: at most five guesses are compared with it, and the first correct guess consumes it."""
    if operation.name == "send":
        return ((operation.value, 0),)
    if state is None or state[1] >= ATTEMPTS:
        return (state,) if operation.result == "refused" else ()
    counted = (state[0], state[1] + 1)
    right = operation.value == state[0]
    if operation.result == UNKNOWN:  # the attempt was counted, and perhaps it was the correct one
        return (counted, None) if right else (counted,)
    if operation.result == "verified":
        return (None,) if right else ()
    return (counted,) if operation.result == "incorrect" and not right else ()


MODELS: dict[str, tuple[Callable[[Any, Operation], Iterable[Hashable]], Hashable]] = {
    "session": (owner, None),
    "credential": (owner, None),
    "address": (address, 0),
    "code": (code, None),
}


def explained(kind: str, history: Sequence[Operation]) -> bool:
    step, start = MODELS[kind]
    return linearizable(history, step, start)

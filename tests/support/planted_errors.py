"""Plants errors in recorded histories, like those that a faulty store would cause."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from tests.support.linearizability import Operation

    Plant = Callable[[str, Sequence[Operation], random.Random], list[Operation] | None]


def flipped_read(kind: str, history: Sequence[Operation], chance: random.Random) -> list[Operation] | None:
    """Replace the result of one read with another value that the key could have had.

    Return None if the history has no read.
    """
    reads = [n for n, operation in enumerate(history) if operation.name == "read"]
    if not reads:
        return None
    n = chance.choice(reads)
    values = [*range(4)] if kind == "address" else [None, *(one.value for one in history if one.name == "claim")]
    others = [value for value in values if value != history[n].result]
    return _with(history, n, chance.choice(others)) if others else None


def lost_write(kind: str, history: Sequence[Operation], chance: random.Random) -> list[Operation] | None:
    """Remove one acknowledged write, so that later operations no longer see it.

    Return None if nothing followed a write.
    """
    if kind in {"session", "credential"}:
        won = [one for one in history if one.result == "won"]
        later = {n for n, one in enumerate(history) if won and one.name == "read" and one.call > won[0].back}
        if not later:
            return None
        return [replace(one, result=None) if n in later else one for n, one in enumerate(history)]
    accepted = {"address": ("opened",), "code": ("verified",)}[kind]
    found = [n for n, one in enumerate(history) if one.result in accepted]
    return _second_success(kind, history, chance, found)


def _second_success(
    kind: str, history: Sequence[Operation], chance: random.Random, found: list[int]
) -> list[Operation] | None:
    """Turn a refused operation into a success: a fourth registration, or a code that is used twice."""
    refused = [n for n, one in enumerate(history) if one.result == "refused" and one.name != "read"]
    if not found or not refused:
        return None
    return _with(history, chance.choice(refused), "opened" if kind == "address" else "verified")


def second_owner(kind: str, history: Sequence[Operation], chance: random.Random) -> list[Operation] | None:
    """Turn one refused claim into a successful one. Return None if no claim was refused."""
    refused = [n for n, one in enumerate(history) if one.name == "claim" and one.result == "lost"]
    return _with(history, chance.choice(refused), "won") if refused and kind != "address" else None


def _with(history: Sequence[Operation], n: int, result: object) -> list[Operation]:
    return [*history[:n], replace(history[n], result=result), *history[n + 1 :]]


PLANTS: tuple[Plant, ...] = (flipped_read, lost_write, second_owner)

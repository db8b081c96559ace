"""Counts events in sliding windows, and gives counted events back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.rules.quotas import GIVEN_BACK, admit
from holdfast.rules.shards import shard_of
from holdfast.service.store.postgresql.batches import Kind
from holdfast.service.store.postgresql.writes.arguments import call, columns, nothing
from holdfast.wire.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from asyncpg import Record

    from holdfast.rules.quotas import Quota


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
         float(quota.window_s), charge.now, charge.event if quota.what in GIVEN_BACK else None)
        for n, charge in enumerate(charges, 1)
        for quota in charge.quotas
    ]  # fmt: skip


def window_columns(charges: Iterable[ChargeToMake]) -> list[list[object]]:
    """Return the columns of the windows in which these charges count."""
    rows = _window_rows(charges)
    return columns(rows) if rows else [[] for _ in range(8)]


def refusals(charges: Sequence[ChargeToMake], rows: Iterable[tuple[int, int, float | None]]) -> dict[int, Exception]:
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
    refused = refusals(batch, (tuple(row) for row in rows))
    return [refused.get(n, charge_made(charge)) for n, charge in enumerate(batch, 1)]


def charge_made(charge: ChargeToMake) -> ChargeMade:
    """Return the value with which the count of a charge can be undone."""
    return ChargeMade(charge.event, tuple((quota.what.value, quota.subject) for quota in charge.quotas))


CHARGE = Kind(
    "charge",
    call("charge_windows_v1", 8),
    window_columns,
    _decode_charges,
)


def _encode_given_back(batch: Sequence[tuple[int, Sequence[tuple[str, str]]]]) -> list[list[object]]:
    return columns(
        (shard_of(what, subject), what, subject, event) for event, windows in batch for what, subject in windows
    )


GIVE_BACK = Kind("give_back", call("give_back_v1", 4), _encode_given_back, nothing, repeatable=True)

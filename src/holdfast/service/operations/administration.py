"""What operators look at: identifiers by page, with filters, and counts for each day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from holdfast.rules.identifiers import Channel, parse_channel, parse_identifier
from holdfast.service.store.administration import Scan
from holdfast.wire.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.service.store.administration import DayCount, Listed
    from holdfast.service.store.port import Store

NO_CURSOR = "this is not where a page ended"
_AT_ONCE = 1000
_EXAMINED = 10_000  # rows for one page, which may therefore be short or empty and still have a next one
_STATES: dict[str, Callable[[Listed], bool]] = {
    "session": lambda row: row.stage == "session",
    "registered": lambda row: row.stage == "registered",
    "pending": lambda row: row.pending > 0,
    "confirmed": lambda row: row.confirmed > 0,
}


class NotPossible(Exception):
    """An operator's task cannot be carried out as asked; the text says why."""


class NotFound(NotPossible):
    """What a task is about does not exist, or is in another state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is listed.

    Attributes:
        scan: what is read, in which order.
        channel: only this one; None for all.
        state: only this one, of _STATES.
        address: only what this hash of an address opened.
    """

    scan: Scan
    channel: str | None = None
    state: str | None = None
    address: str | None = None

    def matches(self, row: Listed) -> bool:
        """Return whether a row that was read is listed."""
        return (
            (self.channel is None or row.channel == self.channel)
            and (self.state is None or _STATES[self.state](row))
            and (self.address is None or row.ip == self.address)
            and self.scan.since <= row.created_at < self.scan.until
        )


def search_of(fields: Mapping[str, str | None], hash_of: Callable[[str], str]) -> Search:
    """Return the search for an operator's words. Raises ValueError with what is wrong.

    Args:
        fields: any of prefix, did, address, day, state, channel and after, the end of the page before.
        hash_of: returns the hash of a network address. Raises ValueError for other texts.
    """
    channel, state = fields.get("channel") or None, fields.get("state") or None
    if state is not None and state not in _STATES:
        raise ValueError(f"a state is one of {', '.join(_STATES)}")
    of = _channel(channel or "handle")
    since, until = _day(fields.get("day"))
    scan = Scan(
        did=fields.get("did") or None,
        channel=of.value,
        prefix=_prefix(fields.get("prefix"), of),
        since=since,
        until=until,
        after=_after(fields.get("after")),
    )
    address = fields.get("address")
    return Search(scan=scan, channel=channel, state=state, address=hash_of(address) if address else None)


async def page(store: Store, search: Search, limit: int) -> tuple[list[Listed], str | None]:
    """Return identifiers, and where the next page begins; None after the last one."""
    found: list[Listed] = []
    scan = search.scan
    for _ in range(_EXAMINED // _AT_ONCE):
        rows = await store.administration.scan(scan, _AT_ONCE)
        for row in rows:
            scan = msgspec.structs.replace(scan, after=(row.created_at, row.channel, row.key))
            if search.matches(row):
                found.append(row)
                if len(found) == limit:
                    return found, encoded(scan.after)
        if len(rows) < _AT_ONCE:
            return found, None
    return found, encoded(scan.after)


async def counts(store: Store, days: int, now: float) -> list[DayCount]:
    """Return the counts of the last days (UTC), the latest day first. Each day is one read."""
    today = datetime.fromtimestamp(now, UTC).date()
    found = []
    for n in range(days):
        since = _midnight(today - timedelta(days=n))
        found += await store.administration.count_day(since, since + 86400)
    return found


def encoded(after: tuple[object, ...] | None) -> str:
    """Return where a page ended, as the reader of the next one gives it back."""
    return msgspec.json.encode(after).decode()


def plain(row: Listed) -> dict[str, object]:
    """Return a row for people and programs; the hash of the network address is left out."""
    return {
        "channel": row.channel,
        "identifier": row.given,
        "did": row.did,
        "state": row.stage,
        "confirmed": row.confirmed,
        "pending": row.pending,
        "created_at": _iso(row.created_at),
        "registered_at": None if row.registered_at is None else _iso(row.registered_at),
    }


def plain_count(row: DayCount) -> dict[str, object]:
    """Return a day's count for people and programs."""
    day = date(1970, 1, 1) + timedelta(days=row.day)
    return {"day": day.isoformat(), "channel": row.channel, "claimed": row.claimed, "registered": row.registered}


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _channel(text: str) -> Channel:
    try:
        return parse_channel(text)
    except Refused:
        raise ValueError("a channel is handle, email or sms") from None


def _prefix(text: str | None, channel: Channel) -> str | None:
    if not text or channel is not Channel.HANDLE:
        return text.lower() if text else None
    try:
        return parse_identifier(text, channel).key
    except Refused:
        raise ValueError("no handle begins like this") from None


def _day(text: str | None) -> tuple[float, float]:
    if not text:
        return 0.0, 1e12
    try:
        since = _midnight(date.fromisoformat(text))
    except ValueError:
        raise ValueError("a day is written as 2026-11-24") from None
    return since, since + 86400


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()


def _after(text: str | None) -> tuple[float, str, str] | None:
    if not text:
        return None
    try:
        after = msgspec.json.decode(text, type=tuple[float, str, str])
    except msgspec.DecodeError:
        raise ValueError(NO_CURSOR) from None
    if "\0" in "".join(after[1:]):
        raise ValueError(NO_CURSOR)
    return after

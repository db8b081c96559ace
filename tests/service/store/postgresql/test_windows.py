"""A window's row is small, however many events the window counts."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.store_cases import NOW

from holdfast.rules.quotas import Counted, Quota

DAY_S = 86400


@pytest.mark.parametrize(("what", "most"), [(Counted.KEYED_REQUESTS, 1000), (Counted.SMS, 2100)])
async def test_a_row_does_not_grow_with_its_events(pg_store, postgres_url, postgres, what, most):
    quota = Quota(what, "192.0.2.1", 5000, DAY_S)
    for part in range(4):
        times = [NOW + (part * 250 + n) * DAY_S / 1000 for n in range(250)]
        await asyncio.gather(*(pg_store.charge((quota,), at) for at in times))
    name = postgres_url.rpartition("/")[2]
    ((size, counted),) = postgres.execute(
        "SELECT pg_column_size(w.*), (SELECT sum(c) FROM unnest(w.counts) AS c) FROM holdfast.windows AS w", name
    )
    assert counted == 1000
    assert size < most


def test_what_has_left_a_window_stays_two_minutes_for_clocks_that_differ(ask):
    for later, stays in ((119, True), (120, False)):
        now = NOW + 3600 + later
        rows = ask("window_entries_v1", [NOW], [100], 100, now, 3600.0)
        assert {row["at"]: row["many"] for row in rows} == {**({NOW: 100} if stays else {}), now: 1}


@settings(max_examples=20)
@given(gaps=st.lists(st.floats(0, 300), min_size=70, max_size=100), most=st.sampled_from([3, 64, 65, 120]))
def test_entries_count_every_event_until_it_leaves(ask, gaps, most):
    """No entry hides an event: what the entries count within the window is never less than what happened in it."""
    times = []
    counts = []
    events = []
    now = NOW
    for gap in gaps:
        now += gap
        inside = sum(at > now - 3600 for at in events)
        full = bool(ask("window_full_v1", times, counts, most, now - 3600))
        assert full >= (inside >= most), "a full window is never said to have room"
        if full:
            continue
        rows = sorted((row["at"], row["many"]) for row in ask("window_entries_v1", times, counts, most, now, 3600.0))
        times, counts = [at for at, _ in rows], [many for _, many in rows]
        events.append(now)
        assert len(times) <= 70
        assert sum(many for at, many in rows if at > now - 3600) >= sum(at > now - 3600 for at in events)

"""Which connections a process closes."""

from dataclasses import replace

import pytest

from holdfast.rules.connections import Connection, ConnectionLimits, Watch
from holdfast.rules.limits import TAKEN_BYTES_PER_S

LIMITS = ConnectionLimits(send_timeout_s=10, idle_timeout_s=60, per_address=2)
ONE = Connection(number=1, address="192.0.2.1", waiting=0, taken=0, quiet_s=0.0)
WINDOW = TAKEN_BYTES_PER_S * 10


def closed_at(*seen):
    """Return when the connection is closed, if these are its states at these times."""
    watch = Watch(LIMITS)
    return next((now for now, it in seen if watch.to_close(now, [it])), None)


def waiting(taken, bytes_=1_000_000):
    return replace(ONE, waiting=bytes_, taken=taken)


@pytest.mark.parametrize(
    ("seen", "closed"),
    [
        ([(0, waiting(5)), (9, waiting(5)), (10, waiting(5))], 10),
        ([(0, waiting(0)), (5, waiting(WINDOW - 1)), (10, waiting(WINDOW - 1))], 10),
        ([(0, waiting(0)), (9, waiting(WINDOW)), (18, waiting(WINDOW)), (19, waiting(WINDOW))], 19),
        ([(0, waiting(0)), (9, ONE), (10, waiting(0)), (19, waiting(0))], None),
        ([(0, waiting(0, 50)), (10, waiting(50, 1_000_000)), (19, waiting(50))], None),
        ([(0, ONE), (3600, ONE)], None),
        ([(0, replace(ONE, idle_since=0.0)), (59, replace(ONE, idle_since=0.0))], None),
        ([(60, replace(ONE, idle_since=0.0))], 60),
        ([(60, replace(waiting(0), idle_since=0.0))], None),
    ],
    ids=["nothing", "too little", "then nothing", "all in time", "what waited", "quiet", "not yet", "idle", "reading"],
)  # fmt: skip
def test_a_connection_is_closed_in_time(seen, closed):
    assert closed_at(*seen) == closed


def test_an_address_keeps_the_connections_that_spoke_last():
    mine = [replace(ONE, number=n, quiet_s=float(n)) for n in range(5)]
    others = [replace(ONE, number=10 + n, address=f"192.0.2.{10 + n}") for n in range(5)]
    proxies = [replace(ONE, number=20 + n, address=None) for n in range(5)]
    assert Watch(LIMITS).to_close(0, [*mine, *others, *proxies]) == {2, 3, 4}
    assert Watch(replace(LIMITS, per_address=0)).to_close(0, mine) == set()

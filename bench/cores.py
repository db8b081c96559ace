"""Assigns cores: servers run on the first, the load on the second, if the machine has two and allows it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CAN_PIN = hasattr(os, "sched_setaffinity") and len(os.sched_getaffinity(0)) > 1
_CORES = sorted(os.sched_getaffinity(0)) if _CAN_PIN else []
SERVER = frozenset(_CORES[:1])
LOAD = frozenset(_CORES[1:2])


def of_servers(workers: int) -> frozenset[int]:
    """The cores of a server with that many worker processes: several share the load client's core too."""
    return SERVER if workers == 1 else frozenset(_CORES)


@contextmanager
def children_on(cores: frozenset[int]) -> Iterator[None]:
    """Processes started inside inherit these cores. Does nothing on systems without a choice of cores."""
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)

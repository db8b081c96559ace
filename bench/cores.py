"""Assigns CPU cores: servers run on the first and the load client on the second, if there are two."""

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
    """Return the cores for a server: the first for a single worker process, all of them for several."""
    return SERVER if workers == 1 else frozenset(_CORES)


@contextmanager
def children_on(cores: frozenset[int]) -> Iterator[None]:
    """Pin processes started inside the block to these cores; do nothing on systems without CPU affinity."""
    if not cores:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)

"""Sorts the test modules, the slowest first, so that no worker is left with a slow module at the end of a run.

In a parallel run, each free worker gets the next whole module. The order of tests within a module stays the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
# Prefixes of paths below tests/, the slowest first.
LONG = (
    "contracts/test_forge", "contracts/test_explorer", "enclave/test_standard", "enclave/test_vectors", "browser", "faults",
    "packaging", "world", "peers", "docs", "indexer", "client/snapshots", "client/flows", "cli", "simulation",
)  # fmt: skip
# Modules that take only a few seconds, which run last so that all workers finish at about the same time.
SHORT = ("rules", "content", "wire", "settings", "tidy")


def longest_first(items: list[pytest.Item]) -> None:
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    path = item.path.relative_to(TESTS).as_posix() if item.path.is_relative_to(TESTS) else ""
    for rank, beginning in enumerate(LONG):
        if path.startswith(beginning):
            return rank
    return len(LONG) + path.startswith(SHORT)

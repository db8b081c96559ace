"""How long tests run: briefly in the gate, long under `make soak`, which sets HOLDFAST_TEST_SOAK=1."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import pytest
from _pytest.mark import ParameterSet

SOAK = os.environ.get("HOLDFAST_TEST_SOAK") == "1"


def amount(gate: int, soak: int, setting: str = "") -> int:
    """Return how much a test does: what the named environment variable says, or the amount for the gate or for the soak."""
    return int(os.environ.get(setting) or (soak if SOAK else gate))


def cases(table: Mapping[str, Any], *gate: str) -> list[ParameterSet]:
    """Return a table's cases for `parametrize`; the gate runs only the named ones."""
    return [
        pytest.param(value, id=name, marks=() if name in gate else pytest.mark.soak) for name, value in table.items()
    ]

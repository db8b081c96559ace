"""How long tests run: briefly in the gate, long under `make soak`, which sets HOLDFAST_TEST_SOAK=1."""

from __future__ import annotations

import os

SOAK = os.environ.get("HOLDFAST_TEST_SOAK") == "1"


def amount(gate: int, soak: int, setting: str = "") -> int:
    """Return how much a test does: what the named environment variable says, or the amount for the gate or for the soak."""
    return int(os.environ.get(setting) or (soak if SOAK else gate))

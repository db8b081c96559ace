"""Plays all scenarios with the Python client, one after the other in one event loop."""

from __future__ import annotations

import asyncio
import traceback
from typing import TYPE_CHECKING, Any

from tests.client.flows.scenarios import requests_player, snapshot_player

if TYPE_CHECKING:
    from pathlib import Path

_PLAYERS = {
    "retries": requests_player.play,
    "request": requests_player.play,
    "name": requests_player.play,
    "snapshots": snapshot_player.play,
}


def play_all(scenarios: dict[str, dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return the outcomes of each scenario's events, by the scenario's name; a text if the player failed."""
    return asyncio.run(_played(scenarios, folder))


async def _played(scenarios: dict[str, dict[str, Any]], folder: Path) -> dict[str, Any]:
    found = {}
    for at, (name, scenario) in enumerate(scenarios.items()):
        try:
            found[name] = await _PLAYERS[scenario["flow"]](scenario, folder / str(at))
        except Exception:  # noqa: BLE001 - the test of this scenario reports it
            found[name] = traceback.format_exc()
    return found

"""Plays all scenarios with one of the clients."""

import asyncio
import traceback

from tests.client.flows.scenarios import client_player, move_player, requests_player, snapshot_player
from tests.client.flows.scenarios.files import DEFAULTS
from tests.support.javascript import run_module

from holdfast.enclave.module import bundled

_IN_NODE = 'const { playAll } = await import("SOURCES/../test/scenarios.js"); return playAll(given);'
_PLAYERS = {
    "retries": requests_player.play,
    "request": requests_player.play,
    "name": requests_player.play,
    "snapshots": snapshot_player.play,
    "client": client_player.play,
    "move": move_player.play,
}


def play_all(scenarios, folder):
    """Return the outcomes of each scenario's events, by the scenario's name; a text if the player failed."""
    with asyncio.Runner(loop_factory=client_player.SkippingLoop) as runner:
        return runner.run(_played(scenarios, folder))


def play_all_in_javascript(scenarios):
    """Return the same of the JavaScript client, which runs in Node."""
    given = {"scenarios": scenarios, "defaults": DEFAULTS, "enclave": str(bundled())}
    return dict(run_module(_IN_NODE, given))


async def _played(scenarios, folder):
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)  # of hosts that were killed
    found = {}
    for at, (name, scenario) in enumerate(scenarios.items()):
        try:
            found[name] = await _PLAYERS[scenario["flow"]](scenario, folder / str(at))
        except Exception:  # noqa: BLE001 - the test of this scenario reports it
            found[name] = traceback.format_exc()
    return found

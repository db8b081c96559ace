"""Scenarios that are stated once, in vectors/flows, and played with both clients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.client.flows.scenario_player import play
from tests.support.javascript import run_module

FOLDER = Path(__file__).resolve().parents[3] / "vectors" / "flows"
SCENARIOS = {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.json"))}
named = pytest.mark.parametrize("name", SCENARIOS)


@named
async def test_the_python_client_does_what_a_scenario_says(name, tmp_path):
    check(SCENARIOS[name], await play(SCENARIOS[name], tmp_path))


@pytest.fixture(scope="session")
def played_in_javascript():
    code = 'const { playAll } = await import("SOURCES/../test/scenarios.js"); return playAll(given);'
    return run_module(code, SCENARIOS)


@named
def test_the_javascript_client_does_what_a_scenario_says(name, played_in_javascript):
    check(SCENARIOS[name], played_in_javascript[name])


def check(scenario: dict[str, Any], played: list[dict[str, Any]]) -> None:
    """Compare each event's outcome with what the scenario expects; of a stored state, only the fields it names."""
    expected = [event["expect"] for event in scenario["events"]] if "events" in scenario else [scenario["expect"]]
    assert [_fields(outcome, wanted) for outcome, wanted in zip(played, expected, strict=True)] == expected


def _fields(outcome: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    found = {key: outcome.get(key) for key in wanted} | ({"error": outcome["error"]} if outcome.get("error") else {})
    if "state" in wanted:
        found["state"] = {key: outcome["state"].get(key) for key in wanted["state"]}
    return found

"""A rule about retries is changed once, in the table, and both clients follow it."""

import asyncio
import shutil
from unittest.mock import patch

import pytest
from tests.client.flows.scenarios import requests_player
from tests.support.javascript import SOURCES, run_module
from tools import browser_client

from holdfast.wire.retries import REQUESTS, SNAPSHOTS, Rule

PLAYED = (
    'const { playAll } = await import("SOURCES/../test/scenarios.js"); return playAll({ scenarios: { it: given } });'
)
REQUEST = {"flow": "request", "call": "send code", "response": {}, "answers": ["503 service_busy"] * 4}
UPLOAD = {"flow": "retries", "outcomes": [{"refused": ["body_too_large", 413]}], "times": 3}
CHANGES = [
    (
        "retries.ts",
        "holdfast.client.http.calls.REQUESTS",
        REQUESTS._replace(rules=(Rule("keyed", ("503",), most=2),)),
        REQUEST,
        {"attempts": 3, "waits_s": [0.2, 0.4]},
    ),
    (
        "snapshot_retries.ts",
        "holdfast.client.snapshots.automatic.SNAPSHOTS",
        SNAPSHOTS._replace(final=("413",)),
        UPLOAD,
        {"attempts": 1, "waits_s": [2]},
    ),
]


@pytest.mark.parametrize(("copy", "table", "changed", "scenario", "expected"), CHANGES, ids=["requests", "uploads"])
def test_a_rule_that_is_changed_in_the_table_changes_both_clients(tmp_path, copy, table, changed, scenario, expected):
    shutil.copytree(SOURCES, tmp_path / "src")
    shutil.copytree(SOURCES.parent / "test", tmp_path / "test")
    (tmp_path / "node_modules").symlink_to(SOURCES.parent / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "src" / "generated" / copy).write_text(browser_client.retry_table(changed))
    with patch("tests.support.javascript.SOURCES", tmp_path / "src"):
        [in_javascript] = run_module(PLAYED, scenario)["it"]
    with patch(table, changed):
        [in_python] = asyncio.run(requests_player.play(scenario, tmp_path))
    assert {name: in_python[name] for name in expected} == expected
    assert {name: in_javascript[name] for name in expected} == expected

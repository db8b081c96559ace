"""Scenarios that are stated once, in vectors/flows, and played with both clients."""

from __future__ import annotations

import pytest
from tests.client.flows.scenarios.comparison import between_clients, differences
from tests.client.flows.scenarios.files import scenarios
from tests.client.flows.scenarios.playing import play_all, play_all_in_javascript

SCENARIOS = scenarios()
named = pytest.mark.parametrize("name", SCENARIOS)


@pytest.fixture(scope="session")
def in_python(tmp_path_factory):
    return play_all(SCENARIOS, tmp_path_factory.mktemp("scenarios"))


@pytest.fixture(scope="session")
def in_javascript():
    return play_all_in_javascript(SCENARIOS)


@named
def test_the_python_client_does_what_a_scenario_says(name, in_python):
    assert differences(SCENARIOS[name], in_python[name]) == []


@named
def test_the_javascript_client_does_what_a_scenario_says(name, in_javascript):
    assert differences(SCENARIOS[name], in_javascript[name]) == []


@named
def test_both_clients_do_and_say_the_same(name, in_python, in_javascript):
    assert between_clients(in_python[name], in_javascript[name]) == []

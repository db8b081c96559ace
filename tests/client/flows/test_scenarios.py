"""Scenarios that are stated once, in vectors/flows, and played with both clients."""

import pytest
from tests.client.flows.scenarios.comparison import between_clients, differences
from tests.client.flows.scenarios.files import scenarios
from tests.client.flows.scenarios.playing import play_all, play_all_in_javascript

SCENARIOS = scenarios()


@pytest.fixture(scope="session")
def in_python(tmp_path_factory):
    return play_all(SCENARIOS, tmp_path_factory.mktemp("scenarios"))


@pytest.fixture(scope="session")
def in_javascript():
    return play_all_in_javascript(SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS, ids=str)
def test_both_clients_do_what_a_scenario_says_and_say_the_same(name, in_python, in_javascript):
    wrong = {
        "Python": differences(SCENARIOS[name], in_python[name]),
        "JavaScript": differences(SCENARIOS[name], in_javascript[name]),
        "between the clients": between_clients(in_python[name], in_javascript[name]),
    }
    assert wrong == {client: [] for client in wrong}

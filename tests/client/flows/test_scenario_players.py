"""Whatever differs from a scenario is reported; every category has scenarios."""

from copy import deepcopy

import pytest
from tests.client.flows.scenarios.comparison import between_clients, differences
from tests.client.flows.scenarios.files import FOLDER, categories, scenarios

NAME = "publish_first: A vault's first revision is uploaded, pinned and published"
NEEDED = {
    "documented refusal", "lost answer", "second device", "killed host", "clock", "import after a deletion", "auto-lock",
    "lying gateway", "slow gateway", "silent location", "conflict ending", "removed keys", "Retry-After",
    "idempotency_key_in_use", "sponsor", "gas", "nonce", "fee limit",
}  # fmt: skip


@pytest.mark.parametrize("name", ["effects", "state", "error"])
def test_what_differs_from_a_scenario_or_between_the_clients_is_reported(name):
    scenario = scenarios()[NAME]
    played = [{"error": None, **event["expect"]} for event in scenario["events"]]
    assert differences(scenario, played) == between_clients(played, played) == []
    other = deepcopy(played)
    other[0][name] = {"effects": [], "state": {"sequence": 2}, "error": "NetworkError"}[name]
    assert [len(differences(scenario, other)), len(between_clients(played, other))] == [1, 1]
    assert differences(scenario, "a failure") == ["the player failed: a failure"]


def test_every_category_has_scenarios_and_a_host_is_killed_after_every_effect():
    whole = scenarios()[NAME]["events"][0]["expect"]["effects"]
    assert len([name for name in scenarios() if name.startswith(f"{NAME}, killed after")]) == len(whole)
    assert categories().keys() >= NEEDED
    assert {name.partition(":")[0] for name in scenarios()} == {it.stem for it in FOLDER.glob("*.json")} - {"defaults"}

"""The players report whatever differs from a scenario: an effect too many, one too few, or another stored state."""

from __future__ import annotations

from copy import deepcopy

import pytest
from tests.client.flows.scenarios.comparison import between_clients, differences
from tests.client.flows.scenarios.files import FOLDER, categories, scenarios
from tests.client.flows.scenarios.playing import play_all, play_all_in_javascript

NAME = "publish_first: A vault's first revision is uploaded, pinned and published"
NEEDED = {
    "documented refusal", "lost answer", "second device", "killed host", "clock", "import after a deletion", "auto-lock",
    "lying gateway", "slow gateway", "silent location", "conflict ending", "removed keys", "Retry-After",
    "idempotency_key_in_use", "sponsor", "gas", "nonce", "fee limit",
}  # fmt: skip
LEAST = 450


@pytest.fixture(params=["Python", "JavaScript"])
def played(request, tmp_path):
    """Plays one scenario with one of the clients."""

    def play(scenario):
        if request.param == "Python":
            return play_all({NAME: scenario}, tmp_path)[NAME]
        return play_all_in_javascript({NAME: scenario})[NAME]

    return play


@pytest.fixture
def scenario():
    return deepcopy(scenarios()[NAME])


def test_an_unlisted_effect_is_reported(scenario, played):
    scenario["events"][0]["expect"]["effects"].remove("list pins")
    assert "effects is" in "".join(differences(scenario, played(scenario)))


def test_an_effect_that_is_not_performed_is_reported(scenario, played):
    scenario["events"][0]["expect"]["effects"].append("unpin 1")
    assert "effects is" in "".join(differences(scenario, played(scenario)))


def test_another_order_of_effects_is_reported(scenario, played):
    scenario["events"][0]["expect"]["effects"].reverse()
    assert "effects is" in "".join(differences(scenario, played(scenario)))


def test_another_stored_state_is_reported(scenario, played):
    scenario["events"][0]["expect"]["state"]["sequence"] = 2
    assert "state is" in "".join(differences(scenario, played(scenario)))


def test_an_error_that_is_not_listed_is_reported(scenario, played):
    scenario["events"][0]["answers"] = {"list pins": "lost", "upload": "lost"}
    assert "error is 'NetworkError'" in "".join(differences(scenario, played(scenario)))


def test_a_player_that_fails_is_reported(scenario, played):
    scenario["events"][0]["do"] = "dance"
    assert "the player failed" in "".join(differences(scenario, played(scenario)))


def test_what_only_one_client_says_is_reported():
    ours, theirs = [{"error": "StorageError", "message": "full"}], [{"error": "StorageError", "message": "no room"}]
    assert between_clients(ours, ours) == []
    assert len(between_clients(ours, theirs)) == 1


def test_a_host_is_killed_after_every_effect():
    whole = scenarios()[NAME]["events"][0]["expect"]["effects"]
    assert len([name for name in scenarios() if name.startswith(f"{NAME}, killed after")]) == len(whole)


def test_every_category_has_scenarios_and_every_file_is_read():
    assert categories().keys() >= NEEDED
    assert len(scenarios()) >= LEAST
    files = {file.stem for file in FOLDER.glob("*.json")} - {"defaults"}
    assert {name.partition(":")[0] for name in scenarios()} == files

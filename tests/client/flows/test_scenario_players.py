"""The players report whatever differs from a scenario: an effect too many, one too few, or another stored state."""

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


def changed(change):
    scenario = deepcopy(scenarios()[NAME])
    change(scenario["events"][0], scenario["events"][0]["expect"])
    return scenario


CHANGES = {
    "effects is": [
        lambda _, expect: expect["effects"].remove("list pins"),
        lambda _, expect: expect["effects"].append("unpin 1"),
        lambda _, expect: expect["effects"].reverse(),
    ],
    "state is": [lambda _, expect: expect["state"].update(sequence=2)],
    "error is 'NetworkError'": [lambda event, _: event.update(answers={"list pins": "lost", "upload": "lost"})],
    "the player failed": [lambda event, _: event.update(do="dance")],
}


@pytest.mark.parametrize("client", ["Python", "JavaScript"])
def test_whatever_differs_is_reported(tmp_path, client):
    """An effect too many, one too few, another order, another state, an error, and a player that fails."""
    given = {f"{told} {n}": changed(it) for told, them in CHANGES.items() for n, it in enumerate(them)}
    played = play_all(given, tmp_path) if client == "Python" else play_all_in_javascript(given)
    for name, scenario in given.items():
        assert name.rpartition(" ")[0] in "".join(differences(scenario, played[name])), name


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

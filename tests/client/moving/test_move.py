"""What a service's address is, and a touch that is cancelled; vectors/flows/move.json and tests/cli/test_move.py move."""

import pytest
from tests.client.flows.scenarios.move_player import play

from holdfast.client.moving.target import address_of, host_of


@pytest.mark.parametrize(
    "wrong",
    [
        "new.example", "ftp://new.example", "https://", "https://new.example@evil.example", "https://new.example/path",
        "https://new.example?x", "https://n\u0435w.example",
    ],
)  # fmt: skip
def test_an_address_is_one_origin_in_ascii(wrong):
    assert address_of("https://New.example/") == "https://new.example"
    assert host_of(address_of("https://new.example:8443")) == "new.example:8443"
    with pytest.raises(ValueError, match="address"):
        address_of(wrong)


async def test_a_touch_that_is_cancelled_ends_the_attempt_and_the_next_one_asks_for_the_same_passkey(tmp_path):
    interrupted = {"do": "move", "answers": {"new: copy": "lost"}}
    cancelled = {"do": "move", "answers": {"passkey signs": "cancelled"}}
    played = await play({"events": [interrupted, cancelled, {"do": "move"}]}, tmp_path)
    assert [event["error"] for event in played] == ["NetworkError", "WebAuthnError", None]
    assert played[1]["effects"] == ["passkey signs"]
    assert played[2]["state"]["records"] == ["former", "new passkey"]
    assert played[0]["state"]["opens"] == played[2]["state"]["opens"] == ["former", "new passkey"]

"""What a service's address is, and an owner whose time is over; vectors/flows/move.json and tests/cli/test_move.py move."""

from types import SimpleNamespace

import pytest
from tests.client.flows.scenarios.move_player import play

from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.account_reads import Owner
from holdfast.client.moving.owner import Passkeys, owned
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


NEW_KEY, FORMER_KEY = b"\x0a" * 64, b"\x0b" * 64


class Account:
    """An account of both services whose owners have expired until a change adds one."""

    def __init__(self):
        self.changes = []

    async def knows_chain(self):
        return True

    async def chains(self):
        return SimpleNamespace(chains=[])

    async def account_view(self):
        expiry = 0 if self.changes else 1
        return SimpleNamespace(
            owners=[Owner(NEW_KEY, expiry, is_primary=False), Owner(FORMER_KEY, 1, is_primary=False)]
        )

    async def sign_account_changes(self, changes):
        self.changes += changes

    async def bring_account_changes(self, signed):
        assert signed


async def test_a_new_passkey_that_was_an_owner_until_a_time_that_is_over_becomes_one_again():
    account = Account()
    made = await owned(account, account, lambda: True, Passkeys(NEW_KEY, FORMER_KEY, ()))
    assert (made.is_owner, made.former_is_owner) == (True, False)
    assert account.changes == [Change(ChangeKind.ADD_OWNER, NEW_KEY)]


async def test_a_touch_that_is_cancelled_ends_the_attempt_and_the_next_one_asks_for_the_same_passkey(tmp_path):
    interrupted = {"do": "move", "answers": {"new: copy": "lost"}}
    cancelled = {"do": "move", "answers": {"passkey signs": "cancelled"}}
    played = await play({"events": [interrupted, cancelled, {"do": "move"}]}, tmp_path)
    assert [event["error"] for event in played] == ["NetworkError", "WebAuthnError", None]
    assert played[1]["effects"] == ["passkey signs"]
    assert played[2]["state"]["records"] == ["former", "new passkey"]
    assert played[0]["state"]["opens"] == played[2]["state"]["opens"] == ["former", "new passkey"]

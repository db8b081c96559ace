"""The owner change of a move."""

from types import SimpleNamespace

from holdfast.chain.account_messages import Change, ChangeKind
from holdfast.chain.account_reads import Owner
from holdfast.client.moving.owner import OwnerChange, Passkeys

NEW, FORMER = b"\x0a" * 64, b"\x0b" * 64


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
        return SimpleNamespace(owners=[Owner(NEW, expiry, is_primary=False), Owner(FORMER, 1, is_primary=False)])

    async def sign_account_changes(self, changes):
        self.changes += changes

    async def bring_account_changes(self, signed):
        assert signed


async def test_a_new_passkey_that_was_an_owner_until_a_time_that_is_over_becomes_one_again():
    account = Account()
    made = await OwnerChange(account, account, lambda: True).make(Passkeys(NEW, FORMER, ()))
    assert (made.is_owner, made.former_is_owner) == (True, False)
    assert account.changes == [Change(ChangeKind.ADD_OWNER, NEW)]

"""Where two owners must sign, the vault's key alone pays what a permission of its own covers."""

from types import SimpleNamespace
from unittest.mock import AsyncMock

import pytest

from holdfast.chain import calls
from holdfast.chain.account_calls import Permission, spend
from holdfast.chain.account_reads import Granted
from holdfast.chain.two_keys import NOBODY, Transfer, Way
from holdfast.client.flows.payment import Payments
from holdfast.client.types import PaymentParams

OWN, PAYEE = "0x" + "0a" * 20, "0x" + "0b" * 20
PERMISSION = Permission(key_id=b"k" * 32, token=NOBODY, allowance=10, period=0, start=0)


class Account:
    """An account that records the call of each operation that is sent from it."""

    def __init__(self, way, call_data):
        self.key, self.way, self.call_data, self.sent = (
            SimpleNamespace(address=OWN),
            AsyncMock(return_value=way),
            call_data,
            [],
        )
        self.open, self.wait = AsyncMock(), AsyncMock()
        self.other_chain = AsyncMock(return_value=None)

    async def prepared(self, call):
        return SimpleNamespace(call=call, call_data=self.call_data(call))

    async def signed(self, operation):
        return operation

    def hash(self, _operation):
        return bytes(32)

    async def send(self, operation):
        self.sent.append(operation.call)
        return bytes(32)


@pytest.mark.parametrize("kind", ["permission", "two"])
async def test_a_payment_that_a_permission_covers_is_made_by_it(kind):
    way = Way(kind, permission=Granted(PERMISSION, 0, 10, 0) if kind == "permission" else None)
    account, spender, chosen = Account(way, calls.execute), Account(None, lambda call: call[2]), []

    def spender_of(*which):
        chosen.append(which)
        return spender

    payments = Payments(None, None, account, None, AsyncMock(), spender_of)
    await payments.pay(PaymentParams(to=PAYEE, amount="5", token="native", chain_id=84532))
    (payee,) = {call.args[0].to for call in account.way.await_args_list}
    account.way.assert_awaited_once_with(Transfer(payee, 5, NOBODY))
    if kind == "permission":
        assert (account.sent, spender.sent) == ([], [spend(OWN, PERMISSION, payee, 5)])
        assert chosen == [(OWN, PERMISSION.id)]
        spender.open.assert_awaited_once()
    else:
        assert (len(account.sent), spender.sent, chosen) == (1, [], [])

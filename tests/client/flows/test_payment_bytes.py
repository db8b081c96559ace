"""Nothing is signed but the payment that was asked for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from holdfast.chain import calls
from holdfast.client.flows.failures import OperationFailed
from holdfast.client.flows.payment import Payments
from holdfast.client.types import NATIVE, PaymentParams

PAYEE, OTHER = "0x" + "a1" * 20, "0x" + "b2" * 20


class Account:
    """An account whose prepared operation pays `to`."""

    contracts = SimpleNamespace(chain_id=84532)

    def __init__(self, to):
        self.to, self.signed_for = to, []

    async def open(self):
        pass

    async def other_chain(self, _chain_id):
        return None

    async def prepared(self, call):
        return SimpleNamespace(call_data=calls.execute((self.to, *call[1:])))

    async def signed(self, operation):
        self.signed_for.append(operation)
        return operation

    def hash(self, _operation):
        return bytes(32)

    async def send(self, _operation):
        return bytes(32)

    async def wait(self, _operation_hash):
        return None


@pytest.mark.parametrize(("to", "signs"), [(PAYEE, True), (OTHER, False)])
async def test_other_bytes_than_the_payments_are_not_signed(to, signs, monkeypatch):
    async def payee_of(*_):
        return SimpleNamespace(address=PAYEE)

    monkeypatch.setattr("holdfast.client.flows.payment.payee_of", payee_of)
    account = Account(to)
    noted = []

    async def note(row):
        noted.append(row.state)

    payments = Payments(None, None, account, None, note)
    params = PaymentParams(to=PAYEE, amount="5", token=NATIVE, chain_id=84532)
    if signs:
        await payments.pay(params)
    else:
        with pytest.raises(OperationFailed, match="nothing was signed"):
            await payments.pay(params)
    assert bool(account.signed_for) == signs
    assert noted == (["sent", "confirmed"] if signs else [])

"""An account that another owner creates, and an app's permission to spend, on a real local chain."""

from unittest.mock import AsyncMock, Mock

import pytest
from tests.client.flows.devices import add, two_devices
from tests.support.payments import payment, someone

from holdfast.chain.account_calls import spend
from holdfast.chain.account_reads import Created
from holdfast.chain.errors import RpcError
from holdfast.client.account.methods import AccountMethods
from holdfast.client.account.spending import SPEND_COMMAND, SpendingTerms
from holdfast.client.flows.failures import OperationFailed, PaymentRefused
from holdfast.wire.abi import selector

HOUR = 3600


@pytest.fixture
def devices(chain, tmp_path):
    with two_devices(chain, tmp_path) as pair:
        yield pair


def test_another_account_creates_the_account_with_its_changes(devices):
    first, second = devices
    account = first.funded()
    with first.client() as client:
        assert client.account_origin() is None
        signed = client.sign_account_changes([add(second.signer)])
        assert len(signed.signature) == 64, "the cheapest form: the only owner, and the account's next change"
    with second.client(account) as client:
        with pytest.raises(OperationFailed, match="does not exist on this chain"):
            client.bring_account_changes([signed])
        origin = Created(*first.key, salt=0)
        assert client.bring_account_changes([signed], origin=origin).applied == 1
        assert client.account_origin() == origin
        assert [owner.signer for owner in client.account_view().owners] == [first.signer, second.signer]
    second.pays(account)


@pytest.mark.parametrize(("recovery", "told"), [(None, "no recovery"), (Mock(new_owners=None), "is under way, but")])
async def test_a_recovery_whose_new_owners_the_endpoint_hides_is_not_told_to_be_none(recovery, told):
    client = Mock(account_view=AsyncMock(return_value=Mock(recovery=recovery)))
    with pytest.raises(OperationFailed, match=told):
        await AccountMethods.finish_account_recovery(client)


def test_an_app_spends_by_its_permission_while_the_persons_devices_are_off(chain, devices):
    owner, app = devices
    account, payee = owner.funded(), someone()
    terms = SpendingTerms(to=app.vault.query().did, token=chain.usdc, allowance=5_000, period=HOUR, payee=payee)
    with owner.client() as client:
        allowed = client.allow_spending(terms)
    with app.client() as shop:
        for _ in range(2):
            shop.spend(allowed.container, payee, 2_000)
        assert chain.usdc_of(payee) == 4_000
        with pytest.raises(PaymentRefused, match="1000 of the permission are left"):
            shop.spend(allowed.container, payee, 1_001)
        with pytest.raises(PaymentRefused, match="does not allow"):
            shop.spend(allowed.container, someone(), 1)
    beyond = spend(account, allowed.permission, payee, 1_001)[2]
    entry_point = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"
    with pytest.raises(RpcError, match=selector("LimitExceeded(uint256)").hex()):
        chain.rpc("eth_call", {"from": entry_point, "to": account, "data": f"0x{beyond.hex()}"}, "latest")
    with owner.client() as client:
        assert [(each.spent, each.left) for each in client.account_permissions()] == [(4_000, 1_000)]
        client.pay(payment(chain, payee, 1))  # the app's operations take no nonces from the owner
        with pytest.raises(PaymentRefused, match="audience"):
            client.spend(allowed.container, payee, 1)
        assert client.end_spending(allowed.permission.id)
        assert client.end_spending(allowed.permission.id) is None
    assert delegated(owner) == [(allowed.cid, True)]
    with owner.client() as client, pytest.raises(OperationFailed, match="InvalidPermission"):
        client.allow_spending(SpendingTerms(to=terms.to, token=chain.usdc, allowance=0))
    assert [is_revoked for _, is_revoked in delegated(owner)] == [True, True], "what the chain refuses is revoked"
    with app.client() as shop, pytest.raises(PaymentRefused, match="was revoked"):
        shop.spend(allowed.container, payee, 1)


def delegated(device):
    """Return the CIDs of the delegations to spend, and whether each is revoked."""
    rows = device.vault.exec("resource:delegations action:list").result or []
    return [(row["cid"], row["revoked_at"] is not None) for row in rows if row["command"] == SPEND_COMMAND]

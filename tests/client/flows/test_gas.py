"""How an application's gas policy decides who pays for gas; vectors/flows/pay_gas.json has the cases."""

import pytest
from tests.support.vector_files import vectors

import holdfast
from holdfast.client.flows.amounts import amount_text, wei_text

SECRET = "https://p.example/SECRET"


@pytest.mark.parametrize("name", ["paymaster_url", "rpc_url"])
@pytest.mark.parametrize("url", ["", "ftp://x", "paymaster.example", "https://"])
def test_addresses_are_checked_and_never_shown(name, url):
    with pytest.raises(ValueError, match=rf"^{name} must start with http"):
        holdfast.GasPolicy(**{name: url})
    assert "SECRET" not in repr(holdfast.GasPolicy(**{name: SECRET}, context={"policy": "SECRET"}))


def test_amounts_are_written_exactly():
    amounts = vectors("payments/amounts")
    for amount, decimals, words in amounts["tokens"]:
        assert amount_text(int(amount), decimals) == words
    for wei, words in amounts["wei"]:
        assert wei_text(int(wei)) == words


def test_a_limit_is_not_negative():
    with pytest.raises(ValueError, match="max_own_cost_wei"):
        holdfast.GasPolicy(max_own_cost_wei=-1)

"""Deployment on a real chain deploys only missing contracts, checks the result, and refuses unsuitable chains."""

import secrets
from dataclasses import replace

import pytest
from eth_keys.datatypes import PrivateKey
from tests.support.vector_files import vectors

from holdfast.chain.abi import call_data
from holdfast.chain.contracts import DETERMINISTIC_DEPLOYER, PRODUCTION, address, load, predict_account
from holdfast.chain.contracts import deployment as under_test
from holdfast.chain.contracts.deployment import DeploymentError, carry_out, make_plan
from holdfast.wire.keccak import checksum_address

VECTORS = vectors("accounts/addresses")


@pytest.fixture
def key(chain):
    fresh = PrivateKey(secrets.token_bytes(32))
    chain.call("anvil_setBalance", fresh.public_key.to_checksum_address(), hex(10**18))
    return fresh


def _plan(chain, key, names=PRODUCTION):
    return chain.run(lambda rpc: make_plan(rpc, key.public_key.to_checksum_address(), names))


def _carry_out(chain, plan, key):
    sent = {}
    chain.run(lambda rpc: carry_out(rpc, plan, key, sent.__setitem__))
    return sent


def test_costs_what_the_plan_says(chain, key):
    plan = _plan(chain, key)
    sent = _carry_out(chain, plan, key)
    used = sum(int(chain.call("eth_getTransactionReceipt", each)["gasUsed"], 16) for each in sent.values())
    assert plan.gas * 0.9 <= used <= plan.gas * 1.01
    left = int(chain.call("eth_getBalance", plan.sender, "latest"), 16)
    assert 0 < plan.balance - left <= plan.max_cost
    assert plan.cost < plan.max_cost


def test_deploys_only_what_is_missing(chain, key):
    chain.transact(DETERMINISTIC_DEPLOYER, load("SessionSBT").deployment)
    plan = _plan(chain, key)
    assert plan.present == ["SessionSBT"]
    assert sorted(_carry_out(chain, plan, key)) == sorted(set(PRODUCTION) - {"SessionSBT"})
    again = _plan(chain, key)
    assert (again.steps, again.gas, again.cost, again.max_cost) == ([], 0, 0, 0)
    assert again.present == list(PRODUCTION)
    assert _carry_out(chain, again, key) == {}


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["address"][:8])
def test_python_predicts_what_the_factory_answers(deployed, vector):
    arguments = (int(vector["pubKeyX"], 16), int(vector["pubKeyY"], 16), int(vector["salt"]))
    answer = deployed.view(address("AppFactory"), call_data("getAddress(uint256,uint256,uint256)", *arguments))
    assert vector["address"] == predict_account(*arguments) == checksum_address(answer[12:])


def test_refuses_a_chain_with_other_code_at_our_address_or_without_the_deployer(chain, key):
    chain.call("anvil_setCode", address("AppFactory"), "0x6001")
    with pytest.raises(DeploymentError, match="other code stands at the addresses of AppFactory"):
        _plan(chain, key)
    for code in ("0x", "0x00"):
        chain.call("anvil_setCode", DETERMINISTIC_DEPLOYER, code)
        with pytest.raises(DeploymentError, match="lacks the deterministic deployer"):
            _plan(chain, key)


def test_sends_nothing_that_it_cannot_pay_to_the_end(chain, key):
    plan = _plan(chain, key)
    chain.call("anvil_setBalance", plan.sender, hex(plan.max_cost - 1))
    with pytest.raises(DeploymentError, match="this can take up to"):
        _carry_out(chain, replace(plan, balance=plan.max_cost - 1), key)
    assert chain.call("eth_getTransactionCount", plan.sender, "latest") == "0x0"


def test_says_which_transaction_was_not_mined(chain, key, monkeypatch):
    monkeypatch.setattr(under_test, "MINED_WITHIN_S", 0.3)
    plan = _plan(chain, key)
    chain.call("evm_setAutomine", False)
    with pytest.raises(DeploymentError, match=r"VaultAccount: transaction 0x[0-9a-f]{64} is not mined"):
        _carry_out(chain, plan, key)


def test_says_which_transaction_failed(chain, key):
    plan = _plan(chain, key)
    chain.transact(DETERMINISTIC_DEPLOYER, load("VaultAccount").deployment)  # another deployer was faster
    with pytest.raises(DeploymentError, match=r"VaultAccount: transaction 0x[0-9a-f]{64} failed"):
        _carry_out(chain, plan, key)


def test_checks_the_code_afterwards(chain, key):
    plan = _plan(chain, key)
    step = replace(plan.steps[0], contract=replace(plan.steps[0].contract, runtime=b"\x00"))
    with pytest.raises(DeploymentError, match="VaultAccount does not stand at its address"):
        _carry_out(chain, replace(plan, steps=[step]), key)

"""On a real chain: a hostile bundler that names the zero address as paymaster gets nothing, whatever the entry point."""

from __future__ import annotations

import secrets
from typing import Any
from unittest.mock import AsyncMock

import msgspec
import pytest
from eth_abi.abi import encode
from tests.support.blocking import asynchronous
from tests.support.paymasters import Bundler, success
from tests.support.payments import new_vault, payment, someone

import holdfast
from holdfast.chain import calls
from holdfast.chain.contracts import ADDRESSES, predict_account
from holdfast.chain.entry_points import V07, V08, V09
from holdfast.chain.packed_operations import pack
from holdfast.chain.user_operations import UserOperation
from holdfast.client.blocking.loop import run
from holdfast.client.storage.vault_store import VaultStore
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import keccak256
from holdfast.world.software_key import SoftwareKey

ETHER = 10**18
NOBODY = "0x" + "00" * 20
STRUCT = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)"
GREEDY = {
    "callGasLimit": hex(200_000), "verificationGasLimit": hex(1_000_000), "preVerificationGas": hex(1_000_000),
    "maxFeePerGas": hex(10**12), "maxPriorityFeePerGas": hex(10**12), "paymaster": NOBODY, "paymasterData": "0x",
    "paymasterVerificationGasLimit": "0x0", "paymasterPostOpGasLimit": "0x0",
}  # fmt: skip
VERSIONS = pytest.mark.parametrize("version", [V07, V08, V09], ids=lambda version: version.version)


class HostileBundler(Bundler):
    """A sponsor that lets the account pay, at the sponsor's price, for what it calls sponsored."""

    def pm_sponsorUserOperation(self, request: dict[str, Any]) -> dict[str, Any]:  # noqa: N802 - the method's name
        return success(request, GREEDY)

    def eth_estimateUserOperationGas(self, request: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        return success(
            request, {name: hex(10**9) for name in ("callGasLimit", "verificationGasLimit", "preVerificationGas")}
        )


@pytest.fixture(scope="module")
def hostile(chain, tmp_path_factory):
    bundler = HostileBundler(chain)
    with bundler.served() as url:
        yield bundler, chain.another(tmp_path_factory.mktemp("hostile") / "data", url)


@VERSIONS
@pytest.mark.parametrize("limit", [0, 10**16])
def test_what_is_called_sponsored_costs_the_account_nothing(hostile, chain, tmp_path, version, limit):
    """Neither a payment nor a registration is signed, although the account could pay for it."""
    bundler, service = hostile
    gas = holdfast.GasPolicy(max_own_cost_wei=limit)
    with (
        VaultStore(directory=tmp_path) as store,
        new_vault(store) as vault,
        holdfast.Client(service.base_url, vault=vault, gas=gas, timeout=60) as client,
    ):
        there = asynchronous(client)
        there.contracts = AsyncMock(
            return_value=msgspec.structs.replace(client.contracts(), entry_point=version.address)
        )
        account = client.smart_account_address()
        chain.fund(account, 5 * ETHER)
        chain.give(account, 1_000)
        refused = holdfast.OperationFailed if limit == 0 else holdfast.GasTooDear
        with pytest.raises(refused, match="no paymaster"):
            client.pay(payment(chain, someone(), 250))
        with pytest.raises(refused, match="no paymaster"):
            client.register(handle="h" + secrets.token_hex(6))
        assert chain.coin_of(account) == 5 * ETHER
        assert "eth_sendUserOperation" not in bundler.asked


@VERSIONS
def test_version_07_would_charge_the_account(chain, version):
    """The reason why nothing in Holdfast hashes such an operation; the later entry points refuse it themselves."""
    key = SoftwareKey.generate()
    account = predict_account(key.x, key.y)
    chain.fund(account, 5 * ETHER)
    operation = UserOperation.from_rpc({
        "sender": account, "nonce": "0x0", "callData": to_hex(calls.execute((someone(), 0, b""))),
        "factory": ADDRESSES["AppFactory"], "factoryData": to_hex(calls.create_account(key.x, key.y)), **GREEDY,
    })  # fmt: skip
    hashed = from_hex(chain.rpc("eth_call", {"to": version.address, "data": asked(operation)}, "latest"))
    signed = operation.signed(run(key.sign(hashed)))
    handed = keccak256(f"handleOps({STRUCT}[],address)".encode())[:4]
    data = handed + encode([f"{STRUCT}[]", "address"], [[fields(signed)], someone()])
    sent = {"from": chain.sponsor, "to": version.address, "data": to_hex(data), "gas": hex(5_000_000)}
    chain.rpc("eth_sendTransaction", sent)
    paid = 5 * ETHER - chain.coin_of(account)
    assert paid > ETHER if version is V07 else paid == 0


def asked(operation: UserOperation) -> str:
    return to_hex(keccak256(f"getUserOpHash({STRUCT})".encode())[:4] + encode([STRUCT], [fields(operation)]))


def fields(operation: UserOperation) -> tuple[Any, ...]:
    packed = pack(operation)
    return (
        to_hex(packed.sender), packed.nonce, packed.init_code, packed.call_data, packed.account_gas_limits,
        packed.pre_verification_gas, packed.gas_fees, packed.paymaster_and_data, packed.signature,
    )  # fmt: skip

"""The constants are what the compiled code says, and cheap to read."""

from __future__ import annotations

import subprocess
import sys

import pytest

from holdfast.chain import contracts
from holdfast.chain.contracts import addresses
from holdfast.chain.entry_points import V07, V08
from holdfast.wire.keccak import checksum_address, keccak256


@pytest.mark.parametrize("name", contracts.NAMES)
def test_address_follows_from_the_init_code(name: str) -> None:
    contract = contracts.load(name)
    computed = contracts.create2_address(
        contracts.DETERMINISTIC_DEPLOYER, contracts.SALT, keccak256(contract.init_code)
    )
    assert contract.address == contracts.address(name) == computed
    assert contract.init_code_hash == keccak256(contract.init_code)
    assert contract.deployment == contracts.SALT + contract.init_code


def test_constructor_arguments_are_the_addresses_of_earlier_contracts() -> None:
    assert _argument("DIDRegistry") == contracts.address("AppFactory")
    assert _argument("AccountHelper") == contracts.address("DIDRegistry")
    assert _argument("AppFactory") == contracts.address("VaultAccount")
    assert _argument("DevPaymaster") == contracts.DEV_SPONSOR


@pytest.mark.parametrize("name", ["DIDRegistry", "AccountHelper", "AppFactory", "DevPaymaster"])
def test_immutables_hold_the_constructor_argument(name: str) -> None:
    contract = contracts.load(name)
    assert contract.init_code[-32:] in contract.runtime


def test_default_contract_set_is_the_interfaces() -> None:
    assert {
        "chainId": 84532,
        "entryPoint": V07.address,
        "didRegistry": contracts.address("DIDRegistry"),
        "accountHelper": contracts.address("AccountHelper"),
        "sessionSBT": contracts.address("SessionSBT"),
        "appFactory": contracts.address("AppFactory"),
    } == contracts.DEFAULT_CONTRACT_SET


def test_entry_points_are_those_of_the_chain_package() -> None:
    assert (V07.address, V08.address) == (contracts.ENTRY_POINT_V07, contracts.ENTRY_POINT_V08)


def test_every_address_is_in_eip55_form() -> None:
    named = [value for name, value in vars(addresses).items() if name.isupper() and isinstance(value, str)]
    assert len(named) >= 10
    for address in [*named, *contracts.ADDRESSES.values()]:
        assert address == checksum_address(bytes.fromhex(address[2:]))


def test_code_fits_the_chain() -> None:
    for name in contracts.NAMES:
        assert 0 < len(contracts.load(name).runtime) <= 24_576  # EIP-170
        assert len(contracts.load(name).init_code) <= 49_152  # EIP-3860


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        contracts.load("../secrets")
    with pytest.raises(KeyError):
        contracts.address("Nothing")


def test_addresses_need_neither_eth_abi_nor_the_code() -> None:
    program = (
        "import sys, holdfast.chain.contracts as c; c.DEFAULT_CONTRACT_SET; c.predict_account(1, 2, 3);"
        "print(sorted(set(sys.modules) & {'eth_abi', 'eth_keys', 'httpx', 'aiohttp'}), c.load.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[] 0\n"


def _argument(name: str) -> str:
    return checksum_address(contracts.load(name).init_code[-20:])

"""The address constants match the compiled code and are computed as EIP-1014 says, and importing them is cheap."""

import json
import subprocess
import sys

import pytest

from holdfast.chain import contracts
from holdfast.chain.contracts import addresses, clone_code, create2_address, is_clone
from holdfast.chain.entry_points import ENTRY_POINTS, V07, V09
from holdfast.chain.transactions import rlp
from holdfast.wire.encoding import from_hex
from holdfast.wire.keccak import checksum_address, keccak256
from holdfast.world.deployment import ENTRY_POINT_V09_CODE


@pytest.mark.parametrize("name", contracts.NAMES)
def test_address_follows_from_the_init_code_and_the_code_fits_the_chain(name):
    contract = contracts.load(name)
    computed = contracts.create2_address(
        contracts.DETERMINISTIC_DEPLOYER, contracts.SALT, keccak256(contract.init_code)
    )
    assert contract.address == contracts.address(name) == computed
    assert contract.init_code_hash == keccak256(contract.init_code)
    assert contract.deployment == contracts.SALT + contract.init_code
    assert 0 < len(contract.runtime) <= 24_576  # EIP-170
    assert len(contract.init_code) <= 49_152  # EIP-3860


def test_constructor_arguments_are_the_addresses_of_earlier_contracts_and_immutables_hold_them():
    assert _argument("DIDRegistry") == contracts.address("AppFactory")
    assert _argument("AccountHelper") == contracts.address("DIDRegistry")
    assert _argument("AppFactory") == contracts.address("VaultAccount")
    assert _argument("VerifyingPaymaster") == contracts.DEV_SPONSOR
    for name in ("DIDRegistry", "AccountHelper", "AppFactory", "VerifyingPaymaster"):
        assert contracts.load(name).init_code[-32:] in contracts.load(name).runtime, name


def test_default_contract_set_and_entry_points_are_the_interfaces():
    named = (contracts.ENTRY_POINT_V07, contracts.ENTRY_POINT_V08, contracts.ENTRY_POINT_V09)
    assert tuple(entry_point.address for entry_point in ENTRY_POINTS) == named
    assert {
        "chainId": 84532,
        "entryPoint": V07.address,
        "didRegistry": contracts.address("DIDRegistry"),
        "accountHelper": contracts.address("AccountHelper"),
        "sessionSBT": contracts.address("SessionSBT"),
        "appFactory": contracts.address("AppFactory"),
    } == contracts.DEFAULT_CONTRACT_SET


def test_v09_is_the_deployed_pair_of_contracts():
    """SenderCreator's address follows from the EntryPoint's."""
    found = json.loads(ENTRY_POINT_V09_CODE.read_text())
    entry_point, helper = (from_hex(found[name]["address"]) for name in ("entryPoint", "senderCreator"))
    codes = [from_hex(found[name]["code"]) for name in ("entryPoint", "senderCreator")]
    assert found["entryPoint"]["address"] == V09.address
    assert helper == keccak256(rlp([entry_point, 1]))[12:]
    assert [keccak256(code).hex() for code in codes] == [
        "14ee3fe0191de027aecf20ffd7dbd985f5023b898fa429485d2dfe2286b42750",
        "a7d4dd260bca9c96da49f7c0682fdda7f0074694d935815a336d3e60ee3ec6ad",
    ]


def test_every_address_is_in_eip55_form():
    named = [value for name, value in vars(addresses).items() if name.isupper() and isinstance(value, str)]
    assert len(named) >= 10
    for address in [*named, *contracts.ADDRESSES.values()]:
        assert address == checksum_address(bytes.fromhex(address[2:]))


def test_addresses_need_neither_eth_abi_nor_the_code():
    program = (
        "import sys, holdfast.chain.contracts as c; c.DEFAULT_CONTRACT_SET; c.predict_account(1, 2, 3);"
        "print(sorted(set(sys.modules) & {'eth_abi', 'eth_keys', 'httpx2', 'aiohttp'}), c.load.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[] 0\n"


def _argument(name):
    return checksum_address(contracts.load(name).init_code[-20:])


def test_clone_is_that_of_erc_1167_and_a_key():
    implementation = "0x" + "be" * 20
    clone = bytes.fromhex("363d3d373d3d3d363d73" + "be" * 20 + "5af43d82803e903d91602b57fd5bf3")
    code = clone_code(implementation, 1, 2)
    assert code == clone + (1).to_bytes(32) + (2).to_bytes(32)
    assert is_clone(code, implementation)
    for other in (clone, code[:-1], code + b"\0", b"\0" + code[1:], b""):
        assert not is_clone(other, implementation)
    assert not is_clone(code, "0x" + "bf" * 20)


# The examples in EIP-1014: deployer, salt, init code, address.
EXAMPLES = [
    ("00" * 20, "00" * 32, "00", "0x4D1A2e2bB4F88F0250f26Ffff098B0b30B26BF38"),
    ("deadbeef" + "00" * 16, "00" * 32, "00", "0xB928f69Bb1D91Cd65274e3c79d8986362984fDA3"),
    ("deadbeef" + "00" * 16, "00" * 12 + "feed" + "00" * 18, "00", "0xD04116cDd17beBE565EB2422F2497E06cC1C9833"),
    ("00" * 20, "00" * 32, "deadbeef", "0x70f2b2914A2a4b783FaEFb75f459A580616Fcb5e"),
    ("00" * 16 + "deadbeef", "00" * 28 + "cafebabe", "deadbeef", "0x60f3f640a8508fC6a86d45DF051962668E1e8AC7"),
    ("00" * 16 + "deadbeef", "00" * 28 + "cafebabe", "deadbeef" * 11, "0x1d8bfDC5D46DC4f61D6b6115972536eBE6A8854C"),
    ("00" * 20, "00" * 32, "", "0xE33C0C7F7df4809055C3ebA6c09CFe4BaF1BD9e0"),
]


@pytest.mark.parametrize(("deployer", "salt", "code", "address"), EXAMPLES)
def test_examples_of_eip_1014(deployer, salt, code, address):
    assert create2_address("0x" + deployer, bytes.fromhex(salt), keccak256(bytes.fromhex(code))) == address


@pytest.mark.parametrize(
    ("deployer", "salt", "code_hash"),
    [("0x00", bytes(32), bytes(32)), ("0x" + "00" * 20, bytes(31), bytes(32)), ("0x" + "00" * 20, bytes(32), b"")],
)
def test_refuses_other_lengths(deployer, salt, code_hash):
    with pytest.raises(ValueError, match="CREATE2 takes"):
        create2_address(deployer, salt, code_hash)

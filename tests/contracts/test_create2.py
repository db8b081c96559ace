"""The CREATE2 function computes the addresses in EIP-1014's examples, and refuses invalid arguments."""

import pytest

from holdfast.chain.contracts import clone_code, create2_address, is_clone, predict_account
from holdfast.wire.keccak import keccak256

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


def test_clone_is_that_of_erc_1167_and_a_key():
    implementation = "0x" + "be" * 20
    clone = bytes.fromhex("363d3d373d3d3d363d73" + "be" * 20 + "5af43d82803e903d91602b57fd5bf3")
    code = clone_code(implementation, 1, 2)
    assert code == clone + (1).to_bytes(32) + (2).to_bytes(32)
    assert is_clone(code, implementation)
    for other in (clone, code[:-1], code + b"\0", b"\0" + code[1:], b""):
        assert not is_clone(other, implementation)
    assert not is_clone(code, "0x" + "bf" * 20)


@pytest.mark.parametrize("numbers", [(-1, 0, 0), (0, 1 << 256, 0), (0, 0, -1)])
def test_prediction_takes_uint256_only(numbers):
    with pytest.raises(OverflowError):
        predict_account(*numbers)

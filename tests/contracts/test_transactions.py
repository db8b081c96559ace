"""Signed transactions: RLP is tested with the specification's examples, and signatures are compared with anvil's."""

import pytest
from eth_keys.datatypes import PrivateKey

from holdfast.chain.transactions import Transaction, rlp
from holdfast.wire.keccak import checksum_address

# Examples from the RLP specification, and the sizes at which the form of the length prefix changes.
EXAMPLES = [
    (b"dog", "83646f67"), ([b"cat", b"dog"], "c88363617483646f67"), (b"", "80"), ([], "c0"), (0, "80"),
    (15, "0f"), (127, "7f"), (128, "8180"), (1024, "820400"), (b"\x00", "00"), (b"\x7f", "7f"),
    (b"\x80", "8180"), ([[], [[]], [[], [[]]]], "c7c0c1c0c3c0c1c0"), (b"a" * 55, "b7" + "61" * 55),
    (b"a" * 56, "b838" + "61" * 56), ([b"a"] * 56, "f838" + "61" * 56), (b"a" * 256, "b90100" + "61" * 256),
]  # fmt: skip


@pytest.mark.parametrize(("item", "encoded"), EXAMPLES)
def test_rlp(item, encoded):
    assert rlp(item).hex() == encoded


def test_signs_as_anvil_does(chain):
    # The key of account 0 of the public development mnemonic.
    key = PrivateKey(bytes.fromhex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"))
    to = bytes.fromhex("00" * 12 + "deadbeefdeadbeef")
    for size in (0, 1, 55, 56, 300):
        ours = Transaction(
            chain_id=84532, nonce=0, max_priority_fee_per_gas=7, max_fee_per_gas=10**10, gas=90_000, to=to,
            data=bytes(size), value=size,
        ).signed(key)  # fmt: skip
        asked = {
            "from": key.public_key.to_checksum_address(), "to": checksum_address(to), "nonce": "0x0",
            "gas": hex(90_000), "maxPriorityFeePerGas": "0x7", "maxFeePerGas": hex(10**10),
            "value": hex(size), "data": "0x" + "00" * size,
        }  # fmt: skip
        assert "0x" + ours.hex() == chain.call("eth_signTransaction", asked)

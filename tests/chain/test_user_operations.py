from dataclasses import replace

import pytest
from tests.support.vector_files import vectors

from holdfast.chain.entry_points import V08, V09
from holdfast.chain.errors import UnknownEntryPoint
from holdfast.chain.packed_operations import operation_hash
from holdfast.chain.user_operations import UserOperation

FILES = {name: vectors(f"user_operations/{name}") for name in ("v07", "v08", "v09")}
VECTORS = [
    pytest.param(content, vector, id=f"{name}: {vector['name']}")
    for name, content in FILES.items()
    for vector in content["vectors"]
]
PLAIN = UserOperation(sender=b"\x01" * 20, nonce=1, call_data=b"\x02")


SUFFIX_MAGIC = bytes.fromhex("22e325a297439656")
REFUSED = FILES["v09"]["refused"]


@pytest.mark.parametrize(("content", "vector"), VECTORS)
def test_our_hash_is_the_entry_points_and_the_rpc_form_survives(content, vector):
    operation = UserOperation.from_rpc(vector["userOp"])
    ours = operation_hash(operation, entry_point=content["entryPoint"], chain_id=content["chainId"])
    assert "0x" + ours.hex() == vector["userOpHash"]
    assert operation.to_rpc() == vector["userOp"]


@pytest.mark.parametrize("vector", REFUSED, ids=lambda vector: vector["name"])
def test_what_v09_refuses_to_hash_is_refused_here(vector):
    operation = UserOperation.from_rpc(vector["userOp"])
    with pytest.raises(ValueError, match="cut short"):
        operation_hash(operation, entry_point=V09.address, chain_id=84532)


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_an_operation_that_hides_that_the_account_pays_has_no_hash(content):
    for vector in content["neverSigned"]:
        operation = UserOperation.from_rpc(vector["userOp"])
        assert not operation.sponsored
        with pytest.raises(ValueError, match="not a paymaster"):
            operation_hash(operation, entry_point=content["entryPoint"], chain_id=content["chainId"])


@pytest.mark.parametrize("address", ["0x" + "00" * 20, "", "no address", "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789"])
def test_an_unknown_entry_point_is_refused(address):
    with pytest.raises(UnknownEntryPoint):
        operation_hash(PLAIN, entry_point=address, chain_id=1)


def test_an_eip_7702_marker_is_refused():
    with pytest.raises(ValueError, match="7702"):
        operation_hash(
            replace(PLAIN, factory=b"\x77\x02" + bytes(18), factory_data=b""), entry_point=V08.address, chain_id=1
        )


GOOD = PLAIN.to_rpc()


@pytest.mark.parametrize(
    ("fault", "form"),
    [
        ("sender of 19 bytes", {**GOOD, "sender": "0x" + "01" * 19}),
        ("no sender", {**GOOD, "sender": None}),
        ("no nonce", {name: value for name, value in GOOD.items() if name != "nonce"}),
        ("number as a number", {**GOOD, "nonce": 1}),
        ("number in decimal", {**GOOD, "nonce": "17"}),
        ("number without digits", {**GOOD, "nonce": "0x"}),
        ("negative number", {**GOOD, "nonce": "-0x1"}),
        ("nonce of 257 bits", {**GOOD, "nonce": hex(2**256)}),
        ("limit of 129 bits", {**GOOD, "callGasLimit": hex(2**128)}),
        ("odd digits", {**GOOD, "callData": "0x123"}),
        ("no hexadecimal", {**GOOD, "callData": "0xgg"}),
        ("data without a factory", {**GOOD, "factoryData": "0x01"}),
        ("paymaster data without one", {**GOOD, "paymasterData": "0x01"}),
        ("paymaster limit without one", {**GOOD, "paymasterPostOpGasLimit": "0x1"}),
        ("a field of v0.6", {**GOOD, "initCode": "0x"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_malformed_operation_is_refused(fault, form):
    with pytest.raises(ValueError, match=r".+"):
        UserOperation.from_rpc(form)


def test_a_paymasters_signature_in_a_field_of_its_own_is_the_datas_end():
    """EntryPoint v0.9's RPC form: the signature is not hashed, wherever it stands."""
    fields = {**PLAIN.to_rpc(), "paymaster": "0x" + "0a" * 20, "paymasterData": "0x0102"}
    apart = UserOperation.from_rpc({**fields, "paymasterSignature": "0x" + "5a" * 65})
    assert apart.paymaster_data == b"\x01\x02" + b"\x5a" * 65 + b"\x00\x41" + SUFFIX_MAGIC
    other = UserOperation.from_rpc({**fields, "paymasterSignature": "0x" + "6b" * 65})
    assert {operation_hash(one, entry_point=V09.address, chain_id=1) for one in (apart, other)} == {
        operation_hash(other, entry_point=V09.address, chain_id=1)
    }
    for absent in ("0x", None):
        assert UserOperation.from_rpc({**fields, "paymasterSignature": absent}) == UserOperation.from_rpc(fields)
    for wrong in ({**fields, "paymaster": None, "paymasterData": None}, fields):
        signature = "0x5a" if wrong["paymaster"] is None else "0x" + "5a" * 65536
        with pytest.raises(ValueError, match="paymaster"):
            UserOperation.from_rpc({**wrong, "paymasterSignature": signature})

"""Every commitment that a sponsor must post can be read from the call data of the user operation."""

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from holdfast.chain.abi import call_data
from holdfast.chain.calls import execute, execute_batch
from holdfast.chain.contracts import address, commitment, commitments_needed
from holdfast.wire.keccak import did_hash, did_of_key, keccak256

SENDER = "0x" + "a1" * 20
REGISTRY = address("DIDRegistry")
ALIAS, SECRET, NONE = b"\x02" * 32, b"\x03" * 32, bytes(32)
KEY = (5, 7)
DID = did_hash(did_of_key(*KEY))
FOREIGN, RAW = "did:key:zDn", b"did:web:\xff"  # the registry hashes bytes, whether or not they are UTF-8
EXECUTE = keccak256(b"execute(address,uint256,bytes)")[:4]
EXECUTE_BATCH = keccak256(b"executeBatch((address,uint256,bytes)[])")[:4]

REGISTER_SIGNATURE = "register(uint256,uint256,uint256,bytes32,bytes32,string)"
FOREIGN_SIGNATURE = "registerForeign(string,bytes32,bytes32,string)"
CLAIMS = {
    "register": (call_data(REGISTER_SIGNATURE, *KEY, 9, ALIAS, SECRET, "cid"), (DID, ALIAS, SECRET)),
    "no secret": (call_data(REGISTER_SIGNATURE, *KEY, 9, ALIAS, NONE, ""), (DID, ALIAS, NONE)),
    "registerForeign": (
        call_data(FOREIGN_SIGNATURE, FOREIGN, ALIAS, SECRET, "cid"),
        (did_hash(FOREIGN), ALIAS, SECRET),
    ),
    "foreign, no alias": (call_data(FOREIGN_SIGNATURE, FOREIGN, NONE, NONE, ""), (did_hash(FOREIGN), NONE, NONE)),
    "foreign, raw": (
        keccak256(FOREIGN_SIGNATURE.encode())[:4] + encode(["bytes", "bytes32", "bytes32", "bytes"], [RAW, ALIAS, SECRET, RAW]),
        (keccak256(RAW), ALIAS, SECRET),
    ),
    "registerAlias": (call_data("registerAlias(bytes32,bytes32,bytes32)", ALIAS, DID, SECRET), (DID, ALIAS, SECRET)),
}  # fmt: skip
REGISTER = CLAIMS["register"][0]


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("registry", [REGISTRY, REGISTRY.lower()])
def test_every_claim_in_a_single_call(claim, registry):
    data, (did, alias, secret) = CLAIMS[claim]
    assert commitments_needed(SENDER, execute((registry, 0, data))) == [commitment(did, alias, SENDER, secret)]


def test_every_claim_of_a_batch_in_order():
    other = ("0x" + "cc" * 20, 0, REGISTER)
    batch = [(REGISTRY, 0, data) for data, _ in CLAIMS.values()]
    expected = [commitment(did, alias, SENDER, secret) for _, (did, alias, secret) in CLAIMS.values()]
    assert commitments_needed(SENDER, execute_batch([other, *batch, other])) == expected


OTHER_CALL = call_data("setMetadata(bytes32,string)", DID, "cid")
NO_ALIAS = call_data(REGISTER_SIGNATURE, *KEY, 9, NONE, SECRET, "cid")
NOTHING = {
    "empty": b"",
    "short": b"\x00" * 3,
    "not by the account": REGISTER,
    "elsewhere": execute(("0x" + "cc" * 20, 0, REGISTER)),
    "no claim": execute((REGISTRY, 0, OTHER_CALL)),
    "no alias": execute((REGISTRY, 0, NO_ALIAS)),
    "a claim cut short": execute((REGISTRY, 0, REGISTER[:40])),
    "a call cut short": execute((REGISTRY, 0, REGISTER))[:70],
    "an empty batch": execute_batch([]),
}


@pytest.mark.parametrize("data", NOTHING.values(), ids=NOTHING)
def test_nothing_to_post(data):
    assert commitments_needed(SENDER, data) == []


@given(st.binary(max_size=400), st.sampled_from([EXECUTE, EXECUTE_BATCH]))
def test_survives_any_call_data(tail, selector):
    assert commitments_needed(SENDER, selector + tail) == []


@given(st.binary(max_size=400))
def test_survives_any_claim(tail):
    for data, _ in CLAIMS.values():
        needed = commitments_needed(SENDER, execute((REGISTRY, 0, data[:4] + tail)))
        assert all(len(each) == 32 for each in needed)

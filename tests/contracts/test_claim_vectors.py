"""The published test vectors for claims equal what the contracts compute and what `holdfast.chain` encodes."""

import pytest
from tests.support.vector_files import vectors

from holdfast.chain import calls
from holdfast.chain.abi import call_data
from holdfast.chain.contracts import address, commitments_needed
from holdfast.wire.encoding import from_hex

CONTENT = vectors("accounts/claims")
REGISTRY = address("DIDRegistry")


def _key(vector):
    return int(vector["pubKeyX"], 16), int(vector["pubKeyY"], 16)


@pytest.mark.parametrize("vector", CONTENT["vectors"])
def test_our_calls_are_the_vectors(vector):
    call = calls.register(
        REGISTRY,
        *_key(vector),
        salt=int(vector["salt"]),
        alias=vector["alias"],
        secret=from_hex(vector["secret"]),
        metadata_cid=vector["metadataCid"],
    )
    assert call == (REGISTRY, 0, from_hex(vector["register"]))
    assert calls.execute(call) == from_hex(vector["execute"])
    needed = commitments_needed(vector["account"], calls.execute(call))
    assert needed == ([] if vector["commitment"] is None else [from_hex(vector["commitment"])])
    assert [calls.commit(REGISTRY, each)[2] for each in needed] == [from_hex(vector["commit"]) for _ in needed]


@pytest.mark.parametrize("vector", CONTENT["vectors"])
def test_the_registry_computes_the_same(deployed, vector):
    asked = call_data("didHashOf(uint256,uint256)", *_key(vector))
    assert deployed.view(REGISTRY, asked) == from_hex(vector["didHash"])
    if vector["commitment"] is not None:
        words = [from_hex(vector["didHash"]), from_hex(vector["aliasHash"]), vector["account"]]
        asked = call_data("commitmentOf(bytes32,bytes32,address,bytes32)", *words, from_hex(vector["secret"]))
        assert deployed.view(REGISTRY, asked) == from_hex(vector["commitment"])


def test_the_registry_takes_the_vectors_claims(deployed):
    """Registers one claim with an alias, and one by another key without an alias; anvil impersonates both accounts."""
    for vector in (CONTENT["vectors"][2], CONTENT["vectors"][9]):
        deployed.call("anvil_impersonateAccount", vector["account"])
        deployed.call("anvil_setBalance", vector["account"], hex(10**18))
        if vector["commit"] is not None:
            deployed.transact(REGISTRY, from_hex(vector["commit"]))
        deployed.transact(REGISTRY, from_hex(vector["register"]), sender=vector["account"])
        held = deployed.view(REGISTRY, call_data("didOf(address)", vector["account"]))
        assert held == from_hex(vector["didHash"])

"""Calls that change a DID, and the registry's answers about it, are those of the shared vectors."""

import pytest
from tests.support.vector_files import vectors

from holdfast.chain import calls, did_calls
from holdfast.chain.contracts import commitment
from holdfast.chain.errors import ChainError
from holdfast.wire.encoding import from_hex, to_hex
from holdfast.wire.keccak import alias_hash, did_hash

FILE = vectors("accounts/did_calls")
REGISTRY, DID = FILE["registry"], FILE["did"]
CALLS = {
    "set_did_active": lambda it: did_calls.set_did_active(REGISTRY, DID, active=it["active"]),
    "set_metadata": lambda it: did_calls.set_metadata(REGISTRY, DID, it["cid"]),
    "change_controller": lambda it: did_calls.change_controller(REGISTRY, DID, it["account"]),
    "accept_controller": lambda _: did_calls.accept_controller(REGISTRY, DID),
    "set_alias_active": lambda it: did_calls.set_alias_active(REGISTRY, it["alias"], active=it["active"]),
    "register_alias": lambda it: calls.register_alias(REGISTRY, it["alias"], DID, from_hex(it["secret"])),
    "commit": lambda it: calls.commit(
        REGISTRY, commitment(did_hash(DID), alias_hash(it["alias"]), it["account"], from_hex(it["secret"]))
    ),
}
READS = {
    "did": did_calls.read_did,
    "proposed": did_calls.read_proposed,
    "alias": did_calls.read_alias,
}


@pytest.mark.parametrize("row", FILE["calls"], ids=lambda row: row["name"])
def test_calls(row):
    to, value, data = CALLS[row["call"]](row)
    assert (to, value, to_hex(data)) == (REGISTRY, 0, row["data"])


@pytest.mark.parametrize("row", FILE["reads"], ids=lambda row: row["name"])
def test_reads(row):
    answer, read = from_hex(row["answer"]), READS[row["read"]]
    if "result" not in row:
        with pytest.raises(ChainError, match="something other than the registry's state"):
            read(answer)
        return
    found = read(answer)
    assert (list(found) if isinstance(found, tuple) else found) == row["result"]

"""The did:web of services' addresses (vectors/service/did_web.json)."""

import json

import pytest
from tests.support.vector_files import VECTORS

from holdfast.client.snapshots.tokens import did_of_service

CASES = json.loads((VECTORS / "service" / "did_web.json").read_text())["cases"]


@pytest.mark.parametrize(("address", "did"), CASES)
def test_a_service_has_one_did(address, did):
    assert did_of_service(address) == did

"""Which changes of guardians need the person's consent, by the vectors that all clients share."""

import pytest
from tests.support.vector_files import vectors

from holdfast.chain.account_messages import Change
from holdfast.chain.service_guardian import gives_service_alone
from holdfast.wire.encoding import from_hex

VECTORS = vectors("accounts/service_alone")["vectors"]


@pytest.mark.parametrize("row", VECTORS, ids=[row["name"] for row in VECTORS])
def test_a_service_that_alone_suffices_needs_consent(row):
    keys, present = ([from_hex(key) for key in row[name]] for name in ("keys", "present"))
    changes = [Change.from_json(change) for change in row["changes"]]
    assert gives_service_alone(keys, present, row["quorum"], changes) is row["alone"]

"""Which changes of guardians need the person's consent, by the vectors that all clients share."""

import json
from pathlib import Path

import pytest

from holdfast.chain.account_messages import Change
from holdfast.chain.service_guardian import gives_service_alone
from holdfast.wire.encoding import from_hex

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "accounts" / "service_alone.json").read_text())["vectors"]


@pytest.mark.parametrize("row", VECTORS, ids=[row["name"] for row in VECTORS])
def test_a_service_that_alone_suffices_needs_consent(row):
    keys, present = ([from_hex(key) for key in row[name]] for name in ("keys", "present"))
    changes = [Change.from_json(change) for change in row["changes"]]
    assert gives_service_alone(keys, present, row["quorum"], changes) is row["alone"]

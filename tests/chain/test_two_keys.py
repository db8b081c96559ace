"""Which keys sign where two owners must, by the vectors that all clients share."""

import pytest
from tests.support.vector_files import vectors

from holdfast.chain.account_calls import Permission
from holdfast.chain.account_reads import Granted, Owner
from holdfast.chain.two_keys import Transfer, missing_text, way_of, within_sum
from holdfast.wire.encoding import from_hex

FILE = vectors("accounts/two_keys")


def granted(row):
    of = {
        "key_id": from_hex(row["keyId"]),
        "function": from_hex(row["function"]),
        "start": 0,
        "period": 0,
    }
    return Granted(
        Permission(**of, token=row["token"], target=row["target"], allowance=100, until=0, salt=0),
        0,
        int(row["left"]),
        0,
    )


@pytest.mark.parametrize("row", FILE["vectors"], ids=[row["name"] for row in FILE["vectors"]])
def test_which_keys_sign(row):
    own, second = from_hex(FILE["own"]), from_hex(row["second"]) if row["second"] else None
    owners = [Owner(from_hex(it["signer"]), it["expiry"], is_primary=False) for it in row["owners"]]
    permissions, paid = [granted(it) for it in row["permissions"]], row["payment"]
    way = way_of(row["threshold"], own, second, owners, FILE["now"])
    if paid and row["threshold"] > 1:
        way = within_sum(own, permissions, Transfer(paid["to"], int(paid["amount"]), paid["token"])) or way
    assert way.kind == row["way"]
    assert way.permission == (permissions[row["permission"]] if "permission" in row else None)
    if way.kind == "missing":
        assert list(way.keys) == [from_hex(key) for key in row["keys"]]
        assert missing_text(FILE["account"], way.keys) == row["message"]

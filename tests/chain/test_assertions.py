"""Which assertions an account accepts, by the vectors that both clients share."""

import json
from pathlib import Path

from holdfast.chain.assertions import is_accepted
from holdfast.wire.encoding import from_hex

FILE = json.loads((Path(__file__).parents[2] / "vectors" / "accounts" / "assertions.json").read_text())


def test_which_assertions_an_account_accepts():
    digest = from_hex(FILE["digest"])
    for row in FILE["vectors"]:
        accepted = is_accepted(digest, from_hex(row["authenticatorData"]), row["clientData"].encode())
        assert accepted == row["accepted"], row["name"]

"""Which assertions an account accepts, and the signatures made of them, by vectors that both clients share."""

import base64
import json

import pytest
from tests.support.vector_files import vectors

from holdfast.chain.assertions import NotAnAssertion, is_accepted
from holdfast.client.account.second_keys import signature_in
from holdfast.wire.encoding import from_hex, to_base64url, to_hex

FILE = vectors("accounts/assertions")


def test_which_assertions_an_account_accepts():
    digest = from_hex(FILE["digest"])
    for row in FILE["vectors"]:
        accepted = is_accepted(digest, from_hex(row["authenticatorData"]), row["clientData"].encode())
        assert accepted == row["accepted"], row["name"]


@pytest.mark.parametrize("row", FILE["encoded"]["vectors"], ids=lambda row: row["name"])
def test_the_form_of_an_accounts_signature(row):
    made = {"signature": row["signature"], "authenticatorData": FILE["encoded"]["authenticatorData"]}
    given = {name: to_base64url(from_hex(it)) for name, it in (made | {"clientDataJSON": row["clientData"]}).items()}
    assertion = base64.b64encode(json.dumps({"response": given}).encode()).decode()
    if "encoded" in row:
        assert to_hex(signature_in(assertion)) == row["encoded"]
        return
    with pytest.raises((ValueError, NotAnAssertion)):
        signature_in(assertion)

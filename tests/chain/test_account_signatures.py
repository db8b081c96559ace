"""The Python client and the JavaScript client have the account's key sign the same bytes."""

import pytest
from tests.support.javascript import run_module

from holdfast.chain.account_signatures import Text, TypedData, before_creation

ACCOUNT, FACTORY = "0x52908400098527886E0F7030069857D2E4169EE7", "0x" + "fa" * 20
MADE = bytes(range(64))
TYPED = {"separator": "5e" * 32, "contents": "c0" * 32, "type": "Mail(Person to)Person(string name)"}
SIGN = """
  const signatures = await import("SOURCES/chain/account_signatures.js");
  const { text, typed, place, made, creation } = given;
  const { digest, signature } =
    typed ? signatures.nestedTypedData(typed, place) : signatures.nestedText(text, place);
  return [digest, signature(made), signatures.beforeCreation(signature(made), creation)];
"""


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        (Text(""), {"text": ""}),
        (Text("Grüße \U0001f600"), {"text": "Grüße \U0001f600"}),
        (TypedData(b"\x5e" * 32, b"\xc0" * 32, TYPED["type"]), {"typed": TYPED}),
    ],
)
def test_both_clients_sign_the_same_bytes(message, asked):
    digest, signature = message.digest(ACCOUNT, 8453), message.signature(MADE)
    whole = before_creation(signature, FACTORY, b"creates the account")
    given = {
        "place": {"address": ACCOUNT, "chainId": 8453},
        "made": "0x" + MADE.hex(),
        "creation": {"factory": FACTORY, "factoryData": "0x" + b"creates the account".hex()},
        **asked,
    }
    assert run_module(SIGN, given) == ["0x" + each.hex() for each in (digest, signature, whole)]

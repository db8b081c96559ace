"""What an account signs for apps (vectors/accounts/app_signatures.json)."""

import pytest
from tests.support.vector_files import vectors

from holdfast.chain.account_signatures import Text, TypedData, before_creation
from holdfast.wire.encoding import from_hex, to_hex

FILE = vectors("accounts/app_signatures")
DOMAIN, MADE = (FILE["account"], FILE["chainId"]), from_hex(FILE["made"])
LONG = {"$long": f"M({'a' * 65_532})", "$longer": f"M({'a' * 65_533})"}


@pytest.mark.parametrize("row", FILE["texts"], ids=lambda row: row["name"])
def test_a_text(row):
    if "digest" not in row:
        with pytest.raises(ValueError, match="surrogates"):
            Text(row["text"]).digest(*DOMAIN)
        return
    text = Text(row["text"])
    assert (to_hex(text.digest(*DOMAIN)), text.signature(MADE)) == (row["digest"], MADE)


@pytest.mark.parametrize("row", FILE["types"], ids=lambda row: row["name"])
def test_typed_data(row):
    hashes = [from_hex(row.get(name, FILE[name])) for name in ("separator", "contents")]
    kind = LONG.get(row["type"], row["type"])
    if "digest" not in row:
        with pytest.raises(ValueError, match=r"typed data|surrogates"):
            TypedData(*hashes, kind)
        return
    data = TypedData(*hashes, kind)
    assert to_hex(data.digest(*DOMAIN)) == row["digest"]
    if "signature" in row:
        assert to_hex(data.signature(MADE)) == row["signature"]


def test_before_the_account_exists():
    creation = FILE["creation"]
    signed = before_creation(MADE, creation["factory"], from_hex(creation["factoryData"]))
    assert to_hex(signed) == creation["signature"]

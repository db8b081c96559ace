"""What accounts and DIDs are asked, what their keys sign, and which keys must sign, by the vectors that all clients share."""

import base64
import json

import pytest
from tests.support.vector_files import vectors

from holdfast.chain import calls, did_calls
from holdfast.chain.account_calls import Permission
from holdfast.chain.account_messages import Change
from holdfast.chain.account_reads import Granted, Owner
from holdfast.chain.account_signatures import Text, TypedData, before_creation
from holdfast.chain.assertions import NotAnAssertion, is_accepted
from holdfast.chain.contracts import commitment
from holdfast.chain.errors import ChainError
from holdfast.chain.service_guardian import gives_service_alone
from holdfast.chain.two_keys import Transfer, missing_text, way_of, within_sum
from holdfast.client.account.second_keys import signature_in
from holdfast.wire.encoding import from_hex, to_base64url, to_hex
from holdfast.wire.keccak import alias_hash, did_hash

DIDS = vectors("accounts/did_calls")
REGISTRY, DID = DIDS["registry"], DIDS["did"]
DID_CALLS = {
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
DID_READS = {"did": did_calls.read_did, "proposed": did_calls.read_proposed, "alias": did_calls.read_alias}


@pytest.mark.parametrize("row", DIDS["calls"], ids=lambda row: row["name"])
def test_calls_about_a_did(row):
    to, value, data = DID_CALLS[row["call"]](row)
    assert (to, value, to_hex(data)) == (REGISTRY, 0, row["data"])


@pytest.mark.parametrize("row", DIDS["reads"], ids=lambda row: row["name"])
def test_reads_of_a_did(row):
    answer, read = from_hex(row["answer"]), DID_READS[row["read"]]
    if "result" not in row:
        with pytest.raises(ChainError, match="something other than the registry's state"):
            read(answer)
        return
    found = read(answer)
    assert (list(found) if isinstance(found, tuple) else found) == row["result"]


APPS = vectors("accounts/app_signatures")
DOMAIN, MADE = (APPS["account"], APPS["chainId"]), from_hex(APPS["made"])
LONG = {"$long": f"M({'a' * 65_532})", "$longer": f"M({'a' * 65_533})"}


@pytest.mark.parametrize("row", APPS["texts"], ids=lambda row: row["name"])
def test_a_text_for_an_app(row):
    if "digest" not in row:
        with pytest.raises(ValueError, match="surrogates"):
            Text(row["text"]).digest(*DOMAIN)
        return
    text = Text(row["text"])
    assert (to_hex(text.digest(*DOMAIN)), text.signature(MADE)) == (row["digest"], MADE)


@pytest.mark.parametrize("row", APPS["types"], ids=lambda row: row["name"])
def test_typed_data_for_an_app(row):
    hashes = [from_hex(row.get(name, APPS[name])) for name in ("separator", "contents")]
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
    creation = APPS["creation"]
    signed = before_creation(MADE, creation["factory"], from_hex(creation["factoryData"]))
    assert to_hex(signed) == creation["signature"]


ASSERTIONS = vectors("accounts/assertions")


def test_which_assertions_an_account_accepts():
    digest = from_hex(ASSERTIONS["digest"])
    for row in ASSERTIONS["vectors"]:
        accepted = is_accepted(digest, from_hex(row["authenticatorData"]), row["clientData"].encode())
        assert accepted == row["accepted"], row["name"]


@pytest.mark.parametrize("row", ASSERTIONS["encoded"]["vectors"], ids=lambda row: row["name"])
def test_the_form_of_an_accounts_signature(row):
    made = {"signature": row["signature"], "authenticatorData": ASSERTIONS["encoded"]["authenticatorData"]}
    given = {name: to_base64url(from_hex(it)) for name, it in (made | {"clientDataJSON": row["clientData"]}).items()}
    assertion = base64.b64encode(json.dumps({"response": given}).encode()).decode()
    if "encoded" in row:
        assert to_hex(signature_in(assertion)) == row["encoded"]
        return
    with pytest.raises((ValueError, NotAnAssertion)):
        signature_in(assertion)


TWO_KEYS = vectors("accounts/two_keys")


def granted(row):
    of = {"key_id": from_hex(row["keyId"]), "function": from_hex(row["function"]), "start": 0, "period": 0}
    return Granted(
        Permission(**of, token=row["token"], target=row["target"], allowance=100, until=0, salt=0),
        0,
        int(row["left"]),
        0,
    )


@pytest.mark.parametrize("row", TWO_KEYS["vectors"], ids=[row["name"] for row in TWO_KEYS["vectors"]])
def test_which_keys_sign(row):
    own, second = from_hex(TWO_KEYS["own"]), from_hex(row["second"]) if row["second"] else None
    owners = [Owner(from_hex(it["signer"]), it["expiry"], is_primary=False) for it in row["owners"]]
    permissions, paid = [granted(it) for it in row["permissions"]], row["payment"]
    way = way_of(row["threshold"], own, second, owners, TWO_KEYS["now"])
    if paid and row["threshold"] > 1:
        way = within_sum(own, permissions, Transfer(paid["to"], int(paid["amount"]), paid["token"])) or way
    assert way.kind == row["way"]
    assert way.permission == (permissions[row["permission"]] if "permission" in row else None)
    if way.kind == "missing":
        assert list(way.keys) == [from_hex(key) for key in row["keys"]]
        assert missing_text(TWO_KEYS["account"], way.keys) == row["message"]


ALONE = vectors("accounts/service_alone")["vectors"]


@pytest.mark.parametrize("row", ALONE, ids=[row["name"] for row in ALONE])
def test_a_service_that_alone_suffices_needs_consent(row):
    keys, present = ([from_hex(key) for key in row[name]] for name in ("keys", "present"))
    changes = [Change.from_json(change) for change in row["changes"]]
    assert gives_service_alone(keys, present, row["quorum"], changes) is row["alone"]

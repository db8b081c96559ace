"""create_registration encodes the same call data as the Python client's calls, which vectors/accounts/claims.json states."""

import pytest

from holdfast.chain import calls
from holdfast.chain.contracts import commitment
from holdfast.chain.contracts.addresses import APP_FACTORY, DID_REGISTRY, ENTRY_POINT_V07
from holdfast.enclave import Enclave, PluginCallError
from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import alias_hash, did_hash

NONE = bytes(32)
SECRET = bytes(range(32))
WEB = "did:web:example.org"


def register(made, **given):
    x, y = int(made["pubkey_x"], 16), int(made["pubkey_y"], 16)
    return to_hex(calls.execute(calls.register(DID_REGISTRY, x, y, **given)))


def commit(did, alias, account, secret):
    hashed = NONE if alias is None else alias_hash(alias)
    return to_hex(calls.execute(calls.commit(DID_REGISTRY, commitment(did_hash(did), hashed, account, secret))))


@pytest.fixture
def account(generated):
    return str(generated["accounts"][0]["address"])


def test_the_documented_input_alone_prepares_a_registration(vault, generated, account):
    answer = vault.call("create_registration", sender=account, alias="", cid="bafy")
    call_data = register(generated, metadata_cid="bafy")
    assert answer["user_op"]["callData"] == call_data
    assert answer == {
        "user_op": answer["user_op"],
        "did_hash": to_hex(did_hash(generated["did"])),
        "alias_hash": to_hex(NONE),
        "metadata_cid": "bafy",
        "call_data": call_data,
        "entry_point": ENTRY_POINT_V07,
        "registry_addr": DID_REGISTRY,
    }
    assert vault.call("create_registration", sender=account, alias="", cid="bafy", did=generated["did"]) == answer


def test_an_operation_of_a_new_account_makes_it(vault, generated, account):
    made = calls.create_account(int(generated["pubkey_x"], 16), int(generated["pubkey_y"], 16))

    def factory(**given):
        operation = vault.call("create_registration", sender=account, alias="", **given)["user_op"]
        assert operation["sender"] == account
        return operation["factory"], operation["factoryData"]

    new, there = (APP_FACTORY, to_hex(made)), (None, None)
    assert factory() == factory(nonce="0x0") == factory(deployed=False, nonce="0x1") == new
    assert factory(nonce="0x1") == factory(deployed=True) == there


def test_a_salt_and_another_factory_are_those_of_the_account(vault, generated):
    given = {"factory": "0x" + "11" * 20, "implementation": "0x" + "22" * 20, "salt": 9}
    sender = vault.call("derive_address", **given)["address"]
    answer = vault.call("create_registration", sender=sender, alias="", **given)
    assert answer["call_data"] == register(generated, salt=9)
    assert answer["user_op"]["factory"].lower() == given["factory"]
    assert answer["user_op"]["factoryData"].endswith((9).to_bytes(32).hex())
    for other in ({}, {**given, "salt": 8}, {"salt": 9}):
        with pytest.raises(PluginCallError, match="sender") as refused:
            vault.call("create_registration", sender=sender, alias="", **other)
        assert refused.value.code == "invalid_field"


def test_an_alias_is_committed_to_and_then_registered_with_the_same_secret(vault, generated, account):
    base = {"sender": account, "alias": "Alice", "secret": SECRET}
    first = vault.call("create_registration", **base, step="commit")
    assert first["call_data"] == commit(generated["did"], "alice", account, SECRET)
    assert first["user_op"]["factory"] == APP_FACTORY
    second = vault.call("create_registration", **base, step="register", nonce="0x1")
    assert second["call_data"] == register(generated, alias="alice", secret=SECRET)
    assert second["alias_hash"] == to_hex(alias_hash("alice"))


def test_the_vaults_own_secret_is_the_same_for_both_steps_and_on_both_devices(vault, generated, account, key):
    def secret(enclave, alias="alice"):
        prepared = enclave.call("create_registration", sender=account, alias=alias)
        return bytes.fromhex(prepared["call_data"][2:])[4 + 96 + 32 + 4 + 4 * 32 :][:32]

    mine = secret(vault)
    assert mine != NONE
    committed = vault.call("create_registration", sender=account, alias="alice", step="commit")
    assert committed["call_data"] == commit(generated["did"], "alice", account, mine)
    assert secret(vault, "bob") != mine
    exported = vault.call("export", password="pw")["data"]
    with Enclave() as second:
        assert second.call("import", data=exported, password="pw", key=key)["success"] is True
        assert secret(second) == mine


def test_nothing_is_to_be_done_where_it_is_done_or_nothing_is_claimed(vault, account):
    for given in ({"registered": True}, {"step": "commit"}):
        assert vault.call("create_registration", sender=account, alias="", **given)["user_op"] is None
    assert vault.call("create_registration", sender=account, alias="", step="register")["user_op"]


@pytest.mark.parametrize("did", [WEB, "did:key:zabc", "did:web:" + "a" * 400])
@pytest.mark.parametrize("alias", ["alice", None])
def test_a_did_of_another_method_is_registered_as_such(vault, account, did, alias):
    base = {"sender": account, "alias": alias or "", "did": did, "secret": SECRET, "cid": "bafy"}
    answer = vault.call("create_registration", **base)
    call = calls.register_foreign(DID_REGISTRY, did, alias=alias, secret=SECRET, metadata_cid="bafy")
    assert answer["call_data"] == to_hex(calls.execute(call))
    assert answer["did_hash"] == to_hex(did_hash(did))
    assert answer["user_op"]["factory"] == APP_FACTORY
    committed = vault.call("create_registration", **base, step="commit")
    assert committed["call_data"] == commit(did, alias, account, SECRET)
    assert committed["user_op"] is not None

"""create_registration encodes the same call data as an independent ABI encoder."""

import pytest
from eth_abi import encode

from holdfast.chain.contracts.addresses import APP_FACTORY, DID_REGISTRY, ENTRY_POINT_V07
from holdfast.enclave import Enclave, PluginCallError
from holdfast.wire.keccak import keccak256

ZERO = bytes(32)
SECRET = bytes(range(32))
WEB = "did:web:example.org"


def call(signature, values):
    kinds = signature.partition("(")[2][:-1].split(",")
    return keccak256(signature.encode())[:4] + encode(kinds, values)


def executed(inner, registry=DID_REGISTRY):
    return "0x" + call("execute(address,uint256,bytes)", [registry, 0, inner]).hex()


def register(made, alias, secret, cid="", salt=0):
    x, y = int(made["pubkey_x"], 16), int(made["pubkey_y"], 16)
    signature = "register(uint256,uint256,uint256,bytes32,bytes32,string)"
    return executed(call(signature, [x, y, salt, alias, secret, cid]))


def commitment(did, alias, sender, secret):
    made = encode(["bytes32", "bytes32", "address", "bytes32"], [keccak256(did.encode()), alias, sender, secret])
    return executed(call("commit(bytes32)", [keccak256(made)]))


@pytest.fixture
def account(generated):
    return str(generated["accounts"][0]["address"])


def test_the_documented_input_alone_prepares_a_registration(vault, generated, account):
    answer = vault.call("create_registration", sender=account, alias="", cid="bafy")
    assert answer["registry_addr"] == DID_REGISTRY
    assert answer["entry_point"] == ENTRY_POINT_V07
    assert answer["did_hash"] == "0x" + keccak256(generated["did"].encode()).hex()
    assert answer["alias_hash"] == "0x" + ZERO.hex()
    assert answer["metadata_cid"] == "bafy"
    assert answer["call_data"] == register(generated, ZERO, ZERO, "bafy")
    assert answer["user_op"]["callData"] == answer["call_data"]
    assert set(answer) == {
        *("user_op", "did_hash", "alias_hash", "metadata_cid", "call_data", "entry_point", "registry_addr")
    }


def test_an_operation_of_a_new_account_makes_it(vault, generated, account):
    made = call(
        "createAccount(uint256,uint256,uint256)", [int(generated["pubkey_x"], 16), int(generated["pubkey_y"], 16), 0]
    )

    def factory(**given):
        operation = vault.call("create_registration", sender=account, alias="", **given)["user_op"]
        assert operation["sender"] == account
        return operation["factory"], operation["factoryData"]

    new, there = (APP_FACTORY, "0x" + made.hex()), (None, None)
    assert factory() == new
    assert factory(nonce="0x0") == new
    assert factory(deployed=False, nonce="0x1") == new
    assert factory(nonce="0x1") == there
    assert factory(deployed=True) == there


def test_a_salt_and_another_factory_are_those_of_the_account(vault, generated):
    given = {"factory": "0x" + "11" * 20, "implementation": "0x" + "22" * 20, "salt": 9}
    sender = vault.call("derive_address", **given)["address"]
    answer = vault.call("create_registration", sender=sender, alias="", **given)
    assert answer["call_data"] == register(generated, ZERO, ZERO, salt=9)
    assert answer["user_op"]["factory"].lower() == given["factory"]
    assert answer["user_op"]["factoryData"].endswith((9).to_bytes(32).hex())
    for other in ({}, {**given, "salt": 8}, {"salt": 9}):
        with pytest.raises(PluginCallError, match="sender") as refused:
            vault.call("create_registration", sender=sender, alias="", **other)
        assert refused.value.code == "invalid_field"


def test_an_alias_is_committed_to_and_then_registered_with_the_same_secret(vault, generated, account):
    alias = keccak256(b"alice")
    base = {"sender": account, "alias": "Alice", "secret": SECRET}
    first = vault.call("create_registration", **base, step="commit")
    assert first["call_data"] == commitment(generated["did"], alias, account, SECRET)
    assert first["user_op"]["factory"] == APP_FACTORY
    second = vault.call("create_registration", **base, step="register", nonce="0x1")
    assert second["call_data"] == register(generated, alias, SECRET)
    assert second["alias_hash"] == "0x" + alias.hex()


def test_the_vaults_own_secret_is_the_same_for_both_steps_and_on_both_devices(vault, generated, account, key):
    def secret(enclave, alias="alice"):
        prepared = enclave.call("create_registration", sender=account, alias=alias)
        return bytes.fromhex(prepared["call_data"][2:])[4 + 96 + 32 + 4 + 4 * 32 :][:32]

    mine = secret(vault)
    assert mine != ZERO
    committed = vault.call("create_registration", sender=account, alias="alice", step="commit")
    assert committed["call_data"] == commitment(generated["did"], keccak256(b"alice"), account, mine)
    assert secret(vault, "bob") != mine
    exported = vault.call("export", password="pw")["data"]
    with Enclave() as second:
        assert second.call("import", data=exported, password="pw", key=key)["success"] is True
        assert secret(second) == mine


def test_nothing_is_to_be_done_where_it_is_done_or_nothing_is_claimed(vault, account):
    for given in ({"registered": True}, {"step": "commit"}):
        assert vault.call("create_registration", sender=account, alias="", **given)["user_op"] is None
    assert vault.call("create_registration", sender=account, alias="", step="register")["user_op"]


@pytest.mark.parametrize("did", [WEB, "did:web:" + "a" * 24, "did:key:zabc", "did:web:" + "a" * 400])
def test_a_did_of_another_method_is_registered_as_such(vault, account, did):
    alias = keccak256(b"alice")
    base = {"sender": account, "alias": "alice", "did": did, "secret": SECRET, "cid": "bafy"}
    answer = vault.call("create_registration", **base)
    inner = call("registerForeign(string,bytes32,bytes32,string)", [did, alias, SECRET, "bafy"])
    assert answer["call_data"] == executed(inner)
    assert answer["did_hash"] == "0x" + keccak256(did.encode()).hex()
    assert answer["user_op"]["factory"] == APP_FACTORY
    committed = vault.call("create_registration", **base, step="commit")
    assert committed["call_data"] == commitment(did, alias, account, SECRET)
    assert committed["user_op"] is not None


def test_a_foreign_did_is_committed_to_without_an_alias_too(vault, account):
    answer = vault.call("create_registration", sender=account, alias="", did=WEB, secret=SECRET, step="commit")
    assert answer["call_data"] == commitment(WEB, ZERO, account, SECRET)
    assert answer["user_op"] is not None


def test_the_vaults_own_did_by_name_is_registered_as_its_own(vault, generated, account):
    named = vault.call("create_registration", sender=account, alias="", did=generated["did"])
    assert named == vault.call("create_registration", sender=account, alias="")

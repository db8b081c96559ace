"""Accounts derived from the vault's seed, and accounts that an earlier version of the module recorded incorrectly."""

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from tests.support.credentials import KEY
from tests.support.curves import ORDERS
from tests.support.enclave_calls import denied, done
from tests.support.linear_memory import Recorder, assert_absent, numbers
from tests.support.sealed_vaults import OLD, OLD_DID, as_export, edited, opened, rows_in, sealed

from holdfast.enclave import Enclave

SECRET = base64.b64decode(KEY["secret"])
RIGHT = {  # in the old vault, beside accounts whose addresses were not those of their keys
    "Bitcoin": "bc1p5mpl069gfyclj96hcsdp497tw986pw2nm4zexr34ygwssu7glzzs3y3yrt",
    "Cosmos, classic": "cosmos180v6xpt7kzy6c46cza5dgr4z2egawr9usuypnm",
    "Own": "0xc0D66E7eb475C3b37052B07816e911802C3256Db",
    "Watched": "0x000000000000000000000000000000000000dEaD",
}
# The BIP-39 seed of the mnemonic "test test … junk".
DEVELOPMENT = bytes.fromhex(
    "9dfc3c64c2f8bede1533b6a79f8570e5943e0b8fd1cf77107adf7b72cef42185"
    "d564a3aee24cab43f80e3c4538087d70fc824eabbad596a23c97b6ee8322ccc0"
)


@pytest.mark.parametrize(
    ("args", "coin_type", "start"),
    [
        ({"chain": "ethereum", "account_index": 1, "address_index": 2}, 60, "0x"),
        ({"chain": "ethereum", "curve": "P-256", "address_index": 2}, 60, "0x"),
        ({"chain": "bitcoin", "account_index": 0}, 0, "bc1q"),
        ({"chain": "bitcoin", "form": "p2tr", "address_index": 5}, 0, "bc1p"),
        ({"chain": "cosmos", "address_index": 1, "prefix": "osmo"}, 118, "osmo1"),
        ({"chain": "cosmos", "address_index": 1, "curve": "P-256"}, 118, "cosmos1"),
    ],
)
def test_a_derived_account_has_a_key_that_signs(vault, args, coin_type, start):
    row = done(vault, "accounts", "derive", **args)
    assert row["address"].startswith(start)
    named = (row["coin_type"], row["account_index"], row["address_index"])
    assert named == (coin_type, args.get("account_index", 0), args.get("address_index", 0))
    key = done(vault, "enclaves", "get", id=row["enclave_id"])
    assert key["curve"] == args.get("curve", "secp256k1")
    digest = hashlib.sha256(b"x").digest()
    signed = done(vault, "accounts", "sign", id=row["id"], digest=digest.hex())
    public = {"public_key": key["public_key"], "curve": key["curve"]}
    assert vault.call("verify_signature", **public, digest=digest, signature=signed["signature"]) == {"valid": True}
    form = {name: args[name] for name in ("chain", "prefix", "form") if name in args}
    assert vault.call("derive_address", **public, **form)["address"] == row["address"]


def test_each_index_is_another_address_and_each_address_once_and_a_deleted_key_comes_back(vault):
    places = [(account, address) for account in (0, 1) for address in (0, 1, 2)]
    rows = [done(vault, "accounts", "derive", account_index=one, address_index=two) for one, two in places]
    assert len({row["address"] for row in rows}) == len({row["enclave_id"] for row in rows}) == len(places)
    assert denied(vault, "accounts", "derive", account_index=1, address_index=2).startswith("conflict")
    again = done(vault, "accounts", "derive", account_index=1, address_index=2, chain_id="8453")
    assert (again["address"], again["enclave_id"]) == (rows[-1]["address"], rows[-1]["enclave_id"])
    assert len(done(vault, "enclaves", "list")) == 1 + len(places)
    first = rows[0]
    done(vault, "accounts", "delete", id=first["id"])
    done(vault, "enclaves", "delete", id=first["enclave_id"])
    assert done(vault, "accounts", "derive", account_index=0, address_index=0)["address"] == first["address"]


def test_the_seed_is_sealed_in_the_database_and_derives_nothing_if_it_was_changed(generated, tmp_path):
    image = opened(base64.b64decode(generated["database"]), SECRET)
    ((data, nonce, key),) = rows_in(image, "SELECT sealed, nonce, key FROM seeds")
    assert len(AESGCM(key).decrypt(nonce, data, b"holdfast/seed/v1")) == 64
    damaged = edited(image, tmp_path / "db", "UPDATE seeds SET nonce = x'000000000000000000000000'")
    with Enclave() as enclave:
        vault = sealed(damaged, generated["did"].encode(), SECRET)
        assert enclave.call("load", database=vault, key=KEY)["success"] is True
        assert denied(enclave, "accounts", "derive", address_index=1) == "share_rejected"
        assert enclave.call("sign", digest=bytes(32))["signature"]


class FromDevelopmentSeed(Recorder):
    def __call__(self, size):
        return DEVELOPMENT if size == len(DEVELOPMENT) else super().__call__(size)


def test_the_seed_and_the_derived_key_leave_no_trace(credential, key):
    random = FromDevelopmentSeed()
    # The private key of the first account of the mnemonic "test test … junk", as Anvil prints it.
    first = 0xAC0974BEC39A17E36BA4A6B4D238FF944BACB478CBED5EFCAE784D7BF4F2FF80
    order = ORDERS["secp256k1"]
    with Enclave(random=random) as enclave:
        enclave.call("generate", credential=credential, key=key)
        row = done(enclave, "accounts", "derive", address_index=0)
        assert row["address"] == "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
        val = random.scalars(order)[-1]
        hidden = {"seed": DEVELOPMENT} | numbers(order, first, val, (first - val) % order)
        sender = enclave.call("derive_address")["address"]
        assert_absent(enclave, hidden)
        done(enclave, "accounts", "sign", id=row["id"], digest="00" * 32)
        assert_absent(enclave, hidden)
        enclave.call("create_registration", sender=sender, alias="alice")
        assert_absent(enclave, hidden)
        enclave.call("lock")
        assert_absent(enclave, hidden)


@pytest.mark.parametrize(("chain_id", "coin_type"), [("bitcoin", 0), ("cosmos", 118), ("84532", 60), ("1", 60)])
def test_an_account_that_is_only_told_has_its_chains_coin_type(vault, chain_id, coin_type):
    row = done(vault, "accounts", "create", address="somewhere", chain_id=chain_id)
    assert row["coin_type"] == coin_type
    given = done(vault, "accounts", "create", address="elsewhere", chain_id=chain_id, coin_type=7)
    assert given["coin_type"] == 7


@pytest.fixture
def old():
    """A vault with schema version 1, from before accounts were derived from a seed."""
    with Enclave() as enclave:
        assert enclave.call("load", database=sealed(OLD, OLD_DID.encode(), SECRET), key=KEY)["success"] is True
        yield enclave


def test_an_old_vault_or_export_is_put_right_when_it_is_opened_and_what_was_right_stays(old):
    rows = {row["label"]: row for row in old.call("query")["accounts"]}
    key = done(old, "enclaves", "list")[0]
    assert rows["Main"]["address"] == old.call("derive_address")["address"]
    assert rows["Main"]["is_default"] is True
    public = {"public_key": key["public_key"], "curve": "P-256", "chain": "cosmos"}
    assert rows["Cosmos"]["address"] == old.call("derive_address", **public)["address"]
    assert rows["Osmosis"]["address"] == old.call("derive_address", **public, prefix="osmo")["address"]
    right = {label: rows[label]["address"] for label in RIGHT}
    assert right == RIGHT
    coin_types = {label: row["coin_type"] for label, row in rows.items()}
    of_cosmos = dict.fromkeys(("Cosmos", "Osmosis", "Cosmos, classic"), 118)
    assert coin_types == {"Main": 60, "Bitcoin": 0, "Own": 60, "Watched": 60, **of_cosmos}
    with Enclave() as second:
        assert second.call("import", data=as_export(OLD, b"pw"), password="pw", key=KEY)["success"] is True
        assert second.call("query")["accounts"] == old.call("query")["accounts"]


def test_an_old_vault_gets_its_seed_when_it_is_asked_for_one(old):
    first = done(old, "accounts", "derive", address_index=1)["address"]
    saved = old.call("save")["database"]
    with Enclave() as again:
        assert again.call("load", database=saved, key=KEY)["success"] is True
        assert done(again, "accounts", "derive", address_index=1, chain_id="1")["address"] == first
    image = opened(base64.b64decode(saved), SECRET)
    assert rows_in(image, "PRAGMA user_version") == [(3,)]
    assert rows_in(image, "SELECT version FROM migrations ORDER BY version") == [(1,), (2,), (3,)]


def test_where_the_right_account_is_there_already_the_wrong_one_goes(tmp_path, old):
    right = old.call("derive_address")["address"]
    second = edited(
        OLD,
        tmp_path / "db",
        "INSERT INTO accounts (id, address, chain_id, label, enclave_id, created_at)"
        " SELECT 'own', ?, '84532', 'By hand', enclave_id, created_at FROM accounts WHERE label = 'Main'",
        right,
    )
    with Enclave() as enclave:
        assert enclave.call("load", database=sealed(second, OLD_DID.encode(), SECRET), key=KEY)["success"] is True
        found = [row for row in enclave.call("query")["accounts"] if row["chain_id"] == "84532"]
        assert [(row["address"], row["label"], row["is_default"]) for row in found] == [(right, "By hand", True)]


def test_a_policy_sees_the_place_that_is_derived(vault):
    """Policies also apply to fields with default values; the vault's main key is not derived from the seed."""
    policy = [["==", ".account_index", 0], ["<=", ".address_index", 1], ["==", ".coin_type", 60]]
    given = {"to": "did:key:zDnaeauPWVsCwreeRxYutKVufGz8e1VMn4x9p6J9PswiH8KPG", "command": "/accounts/derive"}
    token = vault.call("mint_ucan", **given, policy=policy)["signed_dag_cbor"]

    def told(**args):
        answer = vault.call("exec", filter="resource:accounts action:derive", args=args, token=token)
        assert answer["success"] is ("error" not in answer)
        return answer.get("error")

    assert told(address_index=1) is None
    assert told(account_index=0) is None
    assert told(address_index=1, curve="P-256", chain_id="1") is None
    for other in ({"address_index": 2}, {"account_index": 1}, {"chain": "cosmos", "address_index": 0}, {}):
        assert told(**other) == "policy_denied", other

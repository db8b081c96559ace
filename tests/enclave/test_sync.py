"""Moving a vault from one device to another succeeds between honest devices, and attackers get nothing."""

import base64

import pytest
from tests.support.api import Clock
from tests.support.credentials import registration
from tests.support.enclave_calls import done
from tests.support.linear_memory import size_of

from holdfast.enclave import Enclave

KEY = {"kind": "secret", "secret": bytes(range(32))}
OTHER_KEY = {"kind": "secret", "secret": bytes(range(1, 33))}
PASSWORD = {"kind": "password", "password": "correct horse"}
PASSKEY = {"kind": "prf", "id": "passkey", "secret": bytes(range(2, 34))}


@pytest.fixture
def clock():
    return Clock()


def with_vault(clock, key=KEY):
    enclave = Enclave(now=clock)
    enclave.call("generate", credential=registration(), key=key)
    return enclave


@pytest.fixture
def old(clock):
    return with_vault(clock)


@pytest.fixture
def new(clock):
    return Enclave(now=clock)


def begun(new, old):
    first = new.call("sync_init")
    assert set(first) == {"success", "session_id", "public_key", "expires_at"}
    answer = old.call("sync_respond", session_id=first["session_id"], public_key=first["public_key"])
    assert set(answer) == {"success", "session_id", "public_key", "status"}
    return first["session_id"], answer["public_key"]


def compared(new, old):
    """Run an undisturbed exchange; return (session, the new device's code, the old device's code)."""
    session, public_key = begun(new, old)
    shown_new = new.call("sync_compare", session_id=session, public_key=public_key)
    shown_old = old.call("sync_compare", session_id=session, reveal=shown_new["reveal"])
    return session, shown_new["code"], shown_old["code"]


def sealed(new, old):
    """Run an exchange until the vault is sent; return what `sync_complete` needs except a key."""
    session, code, _ = compared(new, old)
    sent = old.call("sync_respond", session_id=session, code=code)["encrypted_vault"]
    return {"session_id": session, "code": code, "encrypted_vault": sent}


def test_an_honest_exchange_moves_the_vault_with_its_revocations_under_the_new_devices_key(new, old):
    minted = old.call("mint_ucan", to="did:web:example.org", command="/accounts")
    done(old, "delegations", "revoke", cid=minted["cid"])
    session, code, same = compared(new, old)
    assert code == same
    assert len(code) == 6
    assert code.isdigit()
    sent = old.call("sync_respond", session_id=session, code=code)
    assert set(sent) == {"success", "session_id", "public_key", "encrypted_vault", "status"}
    again = old.call("sync_respond", session_id=session, code=code)
    assert again == {"success": False, "session_id": session, "error": "session_used"}
    moved = new.call(
        "sync_complete", session_id=session, code=code, encrypted_vault=sent["encrypted_vault"], key=OTHER_KEY
    )
    did = old.call("status")["did"]
    assert moved == {"success": True, "session_id": session, "did": did, "status": "complete"}
    assert new.call("query") == old.call("query")
    listed = new.call("exec", filter="resource:accounts action:list", token=minted["container"])
    assert (listed["success"], listed["error"]) == (False, "token_revoked")
    signed = {"digest": bytes(32), "deterministic": True}
    assert new.call("sign", **signed) == old.call("sign", **signed)
    for device in (old, new):  # `sync` and `sessions` store only callers' data (enclave/ABI.md)
        assert done(device, "sync", "list") == done(device, "sessions", "list") == []
    database = new.call("lock")["database"]
    assert Enclave().call("load", database=database, key=KEY)["error"] == "wrong_key"
    assert Enclave().call("load", database=database, key=OTHER_KEY)["success"]


def test_a_man_in_the_middle_shows_two_codes(new, old, clock):
    """The attacker acts as the old device towards the new one and vice versa, with separate keys."""
    to_new, to_old = with_vault(clock), Enclave(now=clock)
    session, fake = begun(new, to_new)
    his, theirs = begun(to_old, old)
    shown_new = new.call("sync_compare", session_id=session, public_key=fake)
    shown_his = to_old.call("sync_compare", session_id=his, public_key=theirs)
    shown_old = old.call("sync_compare", session_id=his, reveal=shown_his["reveal"])
    assert shown_new["code"] != shown_old["code"]
    mismatch = old.call("sync_respond", session_id=his, code=shown_new["code"])
    assert mismatch == {"success": False, "session_id": his, "error": "code_mismatch"}
    assert old.call("sync_respond", session_id=his, code=shown_old["code"])["error"] == "session_used"


def test_a_wrong_code_on_the_new_device_ends_its_session(new, old):
    given = sealed(new, old)
    wrong = f"{(int(given['code']) + 1) % 1_000_000:06d}"
    assert new.call("sync_complete", **{**given, "code": wrong}, key=KEY)["error"] == "code_mismatch"
    assert new.call("sync_complete", **given, key=KEY)["error"] == "session_used"
    assert not new.call("status")["initialized"]


@pytest.mark.parametrize("bend", ["first", "middle", "last", "cut", "empty"])
def test_a_changed_vault_does_not_open(new, old, bend):
    given = sealed(new, old)
    vault = bytearray(base64.b64decode(given["encrypted_vault"]))
    if bend in {"first", "middle", "last"}:
        vault[{"first": 0, "middle": len(vault) // 2, "last": -1}[bend]] ^= 1
    given["encrypted_vault"] = bytes(vault[:-1] if bend == "cut" else b"" if bend == "empty" else vault)
    assert new.call("sync_complete", **given, key=KEY)["error"] == "sync_rejected"
    assert not new.call("status")["initialized"]


def test_a_replayed_request_is_refused_and_a_replayed_vault_opens_nowhere_else(new, old, clock):
    given = sealed(new, old)
    new.call("sync_complete", **given, key=KEY)
    assert new.call("sync_complete", **given, key=KEY)["error"] == "session_used"
    stranger = Enclave(now=clock)
    assert stranger.call("sync_complete", **given, key=KEY)["error"] == "session_unknown"
    session, code, _ = compared(stranger, old)
    replayed = {**given, "session_id": session, "code": code}
    assert stranger.call("sync_complete", **replayed, key=KEY)["error"] == "sync_rejected"
    first = new.call("sync_init")
    request = {"session_id": first["session_id"], "public_key": first["public_key"]}
    assert old.call("sync_respond", **request)["success"]
    assert old.call("sync_respond", **request)["error"] == "session_used"


def test_a_locked_vault_is_not_sent(new, old):
    first = new.call("sync_init")
    session, code, _ = compared(new, old)
    old.call("lock")
    after = old.call("sync_respond", session_id=session, code=code)
    assert after == {"success": False, "session_id": session, "error": "session_used"}
    answer = old.call("sync_respond", session_id=first["session_id"], public_key=first["public_key"])
    assert answer["error"] == "vault_locked"


def test_a_device_with_a_vault_keeps_it(old, clock):
    other = with_vault(clock, OTHER_KEY)
    did = other.call("status")["did"]
    assert other.call("sync_complete", **sealed(other, old), key=KEY)["error"] == "conflict"
    assert other.call("status")["did"] == did


def test_many_sessions_do_not_fill_the_memory(old):
    before = size_of(old)
    for _ in range(200):
        old.call("sync_init")
    assert size_of(old) == before


def kinds(enclave):
    return [wrap["kind"] for wrap in enclave.call("list_wraps")["wraps"]]


def carried(new, old, **changes):
    """Pair the devices with the vault's other keys; `changes` replaces fields that the new device receives."""
    session, code, _ = compared(new, old)
    sent = old.call("sync_respond", session_id=session, code=code, with_keys=True)
    came = {
        "encrypted_vault": sent["encrypted_vault"],
        "sealed_vault": sent["sealed_vault"],
        "key": OTHER_KEY,
        **changes,
    }
    return new.call("sync_complete", session_id=session, code=code, **came)


@pytest.mark.parametrize("changed", [False, True])
def test_giving_the_keys_leaves_the_old_devices_vault_as_it_was(new, old, changed):
    old.call("save")
    if changed:
        old.call("add_wrap", key=PASSWORD)
    before, wraps = old.call("status"), old.call("list_wraps")
    assert carried(new, old)["success"]
    after = old.call("status")
    assert (after["revision"], after["unsaved"]) == (before["revision"], changed)
    assert old.call("list_wraps") == wraps
    assert done(old, "tokens", "list") == done(new, "tokens", "list") == []


@pytest.mark.parametrize(
    ("key", "wraps"),
    [(PASSKEY, [("prf", "passkey")]), (PASSWORD, [("password", ""), ("password", "password-")])],
    ids=["a passkey has one wrap", "a password has another name"],
)
def test_a_key_with_the_name_of_one_that_came_along(new, old, key, wraps):
    old.call("add_wrap", key=key)
    mine = {**key, "password": "another password"} if key is PASSWORD else key
    assert carried(new, old, key=mine)["success"]
    assert [(wrap["kind"], wrap["id"][:9]) for wrap in new.call("list_wraps")["wraps"]] == wraps
    saved = new.call("save")["database"]
    for each in (key, mine):
        assert Enclave().call("load", database=saved, key={**each, "id": ""})["success"]


def test_without_the_sealed_vault_the_row_of_the_passage_is_deleted(new, old):
    assert carried(new, old, sealed_vault=None)["success"]
    assert kinds(new) == ["secret"]
    assert done(new, "tokens", "list") == []


@pytest.mark.soak  # seals the largest vault
def test_a_vault_that_arrives_twice_in_base64_fits_into_one_call(new, old):
    for number in range(700):
        done(old, "tokens", "create", kind=str(number), value="x" * 16_000)
    assert carried(new, old)["success"]
    assert len(done(new, "tokens", "list", limit=1000)) == 700

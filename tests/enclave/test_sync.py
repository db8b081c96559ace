"""Moving a vault from one device to another succeeds between honest devices, and attackers get nothing."""

import base64
import json
import os
from pathlib import Path

import pytest
from tests.support.linear_memory import memory_of

from holdfast.enclave import Enclave, PluginCallError

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
KEY = {"kind": "secret", "secret": bytes(range(32))}
OTHER_KEY = {"kind": "secret", "secret": bytes(range(1, 33))}
LIFE_S = 300


class Clock:
    def __init__(self):
        self.now = 1_800_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def credential():
    cases = json.loads((VECTORS / "webauthn" / "valid.json").read_text())["cases"]
    return str(cases[0]["input"]["credential"])


@pytest.fixture
def old(clock):
    """The old device, which has the vault."""
    enclave = Enclave(now=clock)
    enclave.call("generate", credential=credential(), key=KEY)
    return enclave


@pytest.fixture
def new(clock):
    return Enclave(now=clock)


def compared(new, old):
    """Run an undisturbed exchange; return (session, the new device's code, the old device's code)."""
    first = new.call("sync_init")
    session = first["session_id"]
    answer = old.call("sync_respond", session_id=session, public_key=first["public_key"])
    shown_new = new.call("sync_compare", session_id=session, public_key=answer["public_key"])
    shown_old = old.call("sync_compare", session_id=session, reveal=shown_new["reveal"])
    return session, shown_new["code"], shown_old["code"]


def test_a_revoked_token_is_revoked_on_the_other_device_too(new, old):
    minted = old.call("mint_ucan", to="did:web:example.org", command="/accounts")
    old.call("exec", filter="resource:delegations action:revoke", args={"cid": minted["cid"]})
    session, code, _ = compared(new, old)
    sealed = old.call("sync_respond", session_id=session, code=code)["encrypted_vault"]
    assert new.call("sync_complete", session_id=session, code=code, encrypted_vault=sealed, key=OTHER_KEY)["success"]
    listed = new.call("exec", filter="resource:accounts action:list", token=minted["container"])
    assert (listed["success"], listed["error"]) == (False, "token_revoked")
    tidied = new.call("exec", filter="resource:delegations action:delete", args={"cid": minted["cid"]})
    assert str(tidied["error"]).startswith("conflict")


def test_pairing_and_unlocking_leave_no_rows_of_their_own(new, old):
    """Pairing and unlocking write nothing to `sync` and `sessions`, which only store callers' data (enclave/ABI.md)."""
    session, code, _ = compared(new, old)
    sealed = old.call("sync_respond", session_id=session, code=code)["encrypted_vault"]
    new.call("sync_complete", session_id=session, code=code, encrypted_vault=sealed, key=OTHER_KEY)
    for device in (old, new):
        for resource in ("sync", "sessions"):
            assert device.call("exec", filter=f"resource:{resource} action:list")["result"] == []


def test_an_honest_exchange_moves_the_vault(new, old):
    session, code, same = compared(new, old)
    assert code == same
    assert len(code) == 6
    assert code.isdigit()
    sealed = old.call("sync_respond", session_id=session, code=code)["encrypted_vault"]
    done = new.call("sync_complete", session_id=session, code=code, encrypted_vault=sealed, key=OTHER_KEY)
    assert done == {
        "success": True,
        "session_id": session,
        "did": old.call("status")["did"],
        "status": "complete",
    }
    assert new.call("query") == old.call("query")
    digest = bytes(32)
    for enclave in (old, new):
        assert enclave.call("sign", digest=digest, deterministic=True) == old.call(
            "sign", digest=digest, deterministic=True
        )


def test_the_new_device_seals_under_its_own_key(new, old):
    session, code, _ = compared(new, old)
    sealed = old.call("sync_respond", session_id=session, code=code)["encrypted_vault"]
    new.call("sync_complete", session_id=session, code=code, encrypted_vault=sealed, key=OTHER_KEY)
    database = new.call("lock")["database"]
    assert Enclave().call("load", database=database, key=KEY)["error"] == "wrong_key"
    assert Enclave().call("load", database=database, key=OTHER_KEY)["success"]


def test_the_results_have_the_documented_fields(new, old):
    first = new.call("sync_init")
    assert set(first) == {"success", "session_id", "public_key", "expires_at"}
    assert first["expires_at"] == "2027-01-15T08:05:00.000Z"
    session = first["session_id"]
    answer = old.call("sync_respond", session_id=session, public_key=first["public_key"])
    assert set(answer) == {"success", "session_id", "public_key", "status"}
    assert answer["status"] == "compare"
    shown = new.call("sync_compare", session_id=session, public_key=answer["public_key"])
    old.call("sync_compare", session_id=session, reveal=shown["reveal"])
    sealed = old.call("sync_respond", session_id=session, code=shown["code"])
    assert set(sealed) == {"success", "session_id", "public_key", "encrypted_vault", "status"}
    assert sealed["status"] == "sealed"
    refused = old.call("sync_respond", session_id=session, code=shown["code"])
    assert refused == {"success": False, "session_id": session, "error": "session_used"}


def test_a_man_in_the_middle_shows_two_codes(new, old, clock):
    """The attacker acts as the old device towards the new one and vice versa, with separate keys."""
    to_new, to_old = Enclave(now=clock), Enclave(now=clock)
    to_new.call("generate", credential=credential(), key=KEY)
    honest = new.call("sync_init")
    his = to_old.call("sync_init")
    theirs = old.call("sync_respond", session_id=his["session_id"], public_key=his["public_key"])
    fake = to_new.call("sync_respond", session_id=honest["session_id"], public_key=honest["public_key"])
    shown_new = new.call("sync_compare", session_id=honest["session_id"], public_key=fake["public_key"])
    shown_his = to_old.call("sync_compare", session_id=his["session_id"], public_key=theirs["public_key"])
    shown_old = old.call("sync_compare", session_id=his["session_id"], reveal=shown_his["reveal"])
    assert shown_new["code"] != shown_old["code"]
    refused = old.call("sync_respond", session_id=his["session_id"], code=shown_new["code"])
    assert refused == {"success": False, "session_id": his["session_id"], "error": "code_mismatch"}
    again = old.call("sync_respond", session_id=his["session_id"], code=shown_old["code"])
    assert again["error"] == "session_used"


def test_a_key_swapped_on_the_way_breaks_the_commitment(new, old, clock):
    """The session identifier commits to the initiator's key, so it cannot be reused with another key."""
    first = new.call("sync_init")
    swapped = Enclave(now=clock).call("sync_init")["public_key"]
    answer = old.call("sync_respond", session_id=first["session_id"], public_key=swapped)
    shown = new.call("sync_compare", session_id=first["session_id"], public_key=answer["public_key"])
    refused = old.call("sync_compare", session_id=first["session_id"], reveal=shown["reveal"])
    assert refused["error"] == "sync_rejected"
    assert old.call("sync_respond", session_id=first["session_id"], code=shown["code"])["error"] == "session_used"


def test_a_second_key_is_no_second_guess(new, old, clock):
    first = new.call("sync_init")
    answer = old.call("sync_respond", session_id=first["session_id"], public_key=first["public_key"])
    new.call("sync_compare", session_id=first["session_id"], public_key=answer["public_key"])
    other = Enclave(now=clock).call("sync_init")["public_key"]
    assert new.call("sync_compare", session_id=first["session_id"], public_key=other)["error"] == "sync_rejected"
    refused = new.call("sync_compare", session_id=first["session_id"], public_key=answer["public_key"])
    assert refused["error"] == "session_used"


def test_nothing_is_released_before_the_codes_were_compared(new, old):
    first = new.call("sync_init")
    old.call("sync_respond", session_id=first["session_id"], public_key=first["public_key"])
    refused = old.call("sync_respond", session_id=first["session_id"], code="000000")
    assert refused == {"success": False, "session_id": first["session_id"], "error": "sync_rejected"}


@pytest.mark.parametrize("code", ["", "12345", "1234567", "abcdef", "      "])
def test_a_wrong_code_ends_the_session(new, old, code):
    session, right, _ = compared(new, old)
    assert old.call("sync_respond", session_id=session, code=code)["error"] == "code_mismatch"
    assert old.call("sync_respond", session_id=session, code=right)["error"] == "session_used"


def test_a_wrong_code_on_the_new_device_ends_its_session(new, old):
    session, code, _ = compared(new, old)
    sealed = old.call("sync_respond", session_id=session, code=code)["encrypted_vault"]
    wrong = f"{(int(code) + 1) % 1_000_000:06d}"
    given = {"session_id": session, "encrypted_vault": sealed, "key": KEY}
    assert new.call("sync_complete", **given, code=wrong)["error"] == "code_mismatch"
    assert new.call("sync_complete", **given, code=code)["error"] == "session_used"
    assert not new.call("status")["initialized"]


@pytest.mark.parametrize("bend", ["first", "middle", "last", "cut", "empty"])
def test_a_changed_vault_does_not_open(new, old, bend):
    session, code, _ = compared(new, old)
    sealed = bytearray(base64.b64decode(old.call("sync_respond", session_id=session, code=code)["encrypted_vault"]))
    if bend in {"first", "middle", "last"}:
        sealed[{"first": 0, "middle": len(sealed) // 2, "last": -1}[bend]] ^= 1
    changed = bytes(sealed[:-1] if bend == "cut" else b"" if bend == "empty" else sealed)
    refused = new.call("sync_complete", session_id=session, code=code, encrypted_vault=changed, key=KEY)
    assert refused["error"] == "sync_rejected"
    assert not new.call("status")["initialized"]


def test_a_replayed_vault_opens_nowhere_else(new, old, clock):
    session, code, _ = compared(new, old)
    sealed = old.call("sync_respond", session_id=session, code=code)["encrypted_vault"]
    new.call("sync_complete", session_id=session, code=code, encrypted_vault=sealed, key=KEY)
    given = {"code": code, "encrypted_vault": sealed, "key": KEY}
    assert new.call("sync_complete", session_id=session, **given)["error"] == "session_used"
    stranger = Enclave(now=clock)
    assert stranger.call("sync_complete", session_id=session, **given)["error"] == "session_unknown"
    second, other_code, _ = compared(stranger, old)
    given["code"] = other_code
    assert stranger.call("sync_complete", session_id=second, **given)["error"] == "sync_rejected"


def test_a_replayed_request_is_refused(new, old):
    first = new.call("sync_init")
    given = {"session_id": first["session_id"], "public_key": first["public_key"]}
    assert old.call("sync_respond", **given)["success"]
    assert old.call("sync_respond", **given)["error"] == "session_used"


@pytest.mark.parametrize("step", ["compare", "reveal", "respond", "complete"])
def test_after_five_minutes_it_is_too_late(new, old, clock, step):
    first = new.call("sync_init")
    session = first["session_id"]
    answer = old.call("sync_respond", session_id=session, public_key=first["public_key"])

    def late(enclave, function, **fields):
        clock.now += LIFE_S + 1
        assert enclave.call(function, session_id=session, **fields)["error"] == "session_expired"
        assert enclave.call(function, session_id=session, **fields)["error"] == "session_used"

    if step == "compare":
        return late(new, "sync_compare", public_key=answer["public_key"])
    shown = new.call("sync_compare", session_id=session, public_key=answer["public_key"])
    if step == "reveal":
        return late(old, "sync_compare", reveal=shown["reveal"])
    old.call("sync_compare", session_id=session, reveal=shown["reveal"])
    if step == "respond":
        return late(old, "sync_respond", code=shown["code"])
    sealed = old.call("sync_respond", session_id=session, code=shown["code"])["encrypted_vault"]
    return late(new, "sync_complete", code=shown["code"], encrypted_vault=sealed, key=KEY)


def test_a_clock_set_back_gives_no_more_time(new, old, clock):
    first = new.call("sync_init")
    answer = old.call("sync_respond", session_id=first["session_id"], public_key=first["public_key"])
    clock.now -= 10
    refused = new.call("sync_compare", session_id=first["session_id"], public_key=answer["public_key"])
    assert refused["error"] == "session_expired"


def test_a_locked_or_missing_vault_is_not_sent(new, old):
    first = new.call("sync_init")
    given = {"session_id": first["session_id"], "public_key": first["public_key"]}
    assert new.call("sync_respond", **given)["error"] == "vault_uninitialized"
    old.call("lock")
    assert old.call("sync_respond", **given)["error"] == "vault_locked"


def test_locking_ends_what_was_compared(new, old):
    session, code, _ = compared(new, old)
    old.call("lock")
    refused = old.call("sync_respond", session_id=session, code=code)
    assert refused["error"] in {"session_used", "vault_locked"}
    assert "encrypted_vault" not in refused


def test_a_device_with_a_vault_keeps_it(old, clock):
    other = Enclave(now=clock)
    other.call("generate", credential=credential(), key=OTHER_KEY)
    did = other.call("status")["did"]
    session, code, _ = compared(other, old)
    sealed = old.call("sync_respond", session_id=session, code=code)["encrypted_vault"]
    refused = other.call("sync_complete", session_id=session, code=code, encrypted_vault=sealed, key=KEY)
    assert refused["error"] == "conflict"
    assert other.call("status")["did"] == did


@pytest.mark.parametrize("public_key", ["00" * 33, "02" + "ff" * 32, "04" * 33, "02" + "00" * 31 + "01"])
def test_a_key_off_the_curve_is_refused(new, old, public_key):
    session = new.call("sync_init")["session_id"]
    for enclave, function in ((old, "sync_respond"), (new, "sync_compare")):
        with pytest.raises(PluginCallError) as refused:
            enclave.call(function, session_id=session, public_key=public_key)
        assert refused.value.code == "invalid_key"


def test_many_sessions_do_not_fill_the_memory(old):
    before = len(memory_of(old))
    for _ in range(200):
        old.call("sync_init")
    assert len(memory_of(old)) == before


def test_codes_are_evenly_spread(clock):
    """Over 200 pairings, the first digit takes every value, which shows that it is neither constant nor a counter."""
    new, peer = Enclave(now=clock), Enclave(now=clock)
    codes = set()
    for _ in range(200):
        first = new.call("sync_init")
        shown = new.call(
            "sync_compare", session_id=first["session_id"], public_key=peer.call("sync_init")["public_key"]
        )
        codes.add(shown["code"])
    assert len(codes) >= 198
    assert {code[0] for code in codes} == set("0123456789")


def test_the_secret_of_a_finished_session_is_gone(clock):
    """After the session, no random bytes that were drawn for it remain anywhere in the memory."""
    drawn = []

    def random(count):
        drawn.append(os.urandom(count))
        return drawn[-1]

    old = Enclave(now=clock)
    old.call("generate", credential=credential(), key=KEY)
    new = Enclave(now=clock, random=random)
    session, code, _ = compared(new, old)
    sealed = old.call("sync_respond", session_id=session, code=code)["encrypted_vault"]
    scalar = drawn[0]
    assert len(scalar) == 48
    assert new.call("sync_complete", session_id=session, code=code, encrypted_vault=sealed, key=KEY)["success"]
    memory = memory_of(new)
    assert scalar not in memory
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    secret = (int.from_bytes(scalar, "big") % order).to_bytes(32, "big")
    assert secret not in memory
    assert secret[::-1] not in memory


def kinds(enclave):
    return [wrap["kind"] for wrap in enclave.call("list_wraps")["wraps"]]


def carried(new, old, **changes):
    """Pair the devices with the vault's other keys; `changes` replaces fields that the new device receives."""
    session, code, _ = compared(new, old)
    sent = old.call("sync_respond", session_id=session, code=code, with_keys=True)
    came = {"encrypted_vault": sent["encrypted_vault"], "sealed_vault": sent["sealed_vault"], **changes}
    return new.call("sync_complete", session_id=session, code=code, key=OTHER_KEY, **came)


@pytest.mark.parametrize("changed", [False, True])
def test_giving_the_keys_leaves_the_old_devices_vault_as_it_was(new, old, changed):
    old.call("save")
    if changed:
        old.call("add_wrap", key={"kind": "password", "password": "correct horse"})
    before, wraps = old.call("status"), old.call("list_wraps")
    assert carried(new, old)["success"]
    after = old.call("status")
    assert (after["revision"], after["unsaved"]) == (before["revision"], changed)
    assert old.call("list_wraps") == wraps
    for device in (old, new):
        assert device.call("exec", filter="resource:tokens action:list")["result"] == []


def test_the_new_device_continues_with_the_data_key_and_stores_it_under_its_own_key(new, old):
    old.call("add_wrap", key={"kind": "password", "password": "correct horse"})
    assert carried(new, old)["success"]
    assert kinds(new) == ["password", "secret"]
    assert new.call("status")["unsaved"]
    saved = new.call("save")["database"]
    for key, opens in ((OTHER_KEY, True), ({"kind": "password", "password": "correct horse"}, True), (KEY, False)):
        assert Enclave().call("load", database=saved, key=key)["success"] is opens


@pytest.mark.parametrize("sealed", ["", "AAAA"])
def test_a_vault_without_the_keys_that_belong_to_it_is_discarded(new, old, sealed):
    refused = carried(new, old, sealed_vault=sealed)
    assert (refused["success"], refused["error"]) == (False, "sync_rejected")
    assert (new.call("status")["initialized"], new.call("status").get("did")) == (False, None)
    assert new.call("load", database=old.call("save")["database"], key=KEY)["success"]


def test_without_the_sealed_vault_the_row_of_the_passage_is_deleted(new, old):
    assert carried(new, old, sealed_vault=None)["success"]
    assert kinds(new) == ["secret"]
    assert new.call("exec", filter="resource:tokens action:list")["result"] == []


@pytest.mark.soak  # seals the largest vault
def test_a_vault_that_arrives_twice_in_base64_fits_into_one_call(new, old):
    for number in range(700):
        row = {"kind": str(number), "value": "x" * 16_000}
        assert old.call("exec", filter="resource:tokens action:create", args=row)["success"]
    assert carried(new, old)["success"]
    assert len(new.call("exec", filter="resource:tokens action:list", args={"limit": 1000})["result"]) == 700

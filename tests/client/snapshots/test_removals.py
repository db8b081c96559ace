"""A passkey that one device has removed is not restored by another device, whichever version is chosen."""

import contextlib
from types import SimpleNamespace
from unittest.mock import AsyncMock, call

import pytest
from tests.client.snapshots.devices import SECRET, Device, pair, respond_without_keys

from holdfast.client.snapshots.publishing import SnapshotConflict
from holdfast.client.snapshots.versions import OtherKeys, remove_all, removed_keys
from holdfast.client.storage.sealed_header import wrap_names
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.client.vault.keys import HostKey, KnownKey
from holdfast.wire.client_errors import PluginCallError

LOST = KnownKey(HostKey("prf", "lost", secret=b"l" * 32))
KEPT = KnownKey(HostKey("prf", "kept", secret=b"k" * 32))
STRANGER = KnownKey(HostKey("prf", "stranger", secret=b"s" * 32))
PHONE = KnownKey(HostKey("prf", "phone", secret=b"p" * 32))


@pytest.fixture
async def devices(tmp_path, host):
    """A laptop and a phone with the same vault, which the keys `lost` and `kept` open; the phone has one more key."""
    async with Device(tmp_path / "laptop", host) as laptop, Device(tmp_path / "phone", host) as phone:
        await laptop.made()
        for key in (LOST, KEPT):
            await laptop.vault.add_key(key)
        await laptop.client.publish_snapshot()
        await pair(laptop, phone, PHONE)
        yield laptop, phone


async def in_conflict(first, second):
    """Publish the first device's version, so that publishing the second device's version raises SnapshotConflict."""
    with contextlib.suppress(SnapshotConflict):
        await first.client.publish_snapshot()
    with pytest.raises(SnapshotConflict):
        await second.client.publish_snapshot()


def names(device):
    return {key_id for _, key_id in wrap_names(device.store.load().sealed)}


@pytest.mark.parametrize(
    ("removing", "choosing", "version"),
    [("laptop", "phone", "here"), ("phone", "phone", "there"), ("phone", "laptop", "there")],
)
async def test_a_removed_passkey_stays_removed(devices, removing, choosing, version):
    """Whichever device resolves the conflict, and whichever version it chooses."""
    laptop, phone = devices
    remover, other = (laptop, phone) if removing == "laptop" else (phone, laptop)
    await remover.vault.remove_key("prf", "lost")
    await other.change("on the other")
    first, second = (laptop, phone) if choosing == "phone" else (phone, laptop)
    await in_conflict(first, second)
    state = await second.client.choose_snapshot(version, KEPT)
    assert "lost" not in names(second) and "kept" in names(second)
    assert await removed_keys(second.vault) == {("prf", "lost")}
    (did,) = second.store.dids()
    left = [second.store.load(did, revision).sealed for revision in second.store.revisions(did)]
    left.append((await second.gateway.snapshot(state.acknowledged_root)).sealed)
    for sealed in left:
        assert "lost" not in {key_id for _, key_id in wrap_names(sealed)}


@pytest.mark.parametrize(
    ("version", "error"),
    [("there", "wrong_key"), ("here", "unsupported_version")],  # as of a later release, which may have removed a key
)
async def test_a_version_that_does_not_open_leaves_the_vault_open(devices, monkeypatch, version, error):
    laptop, phone = devices
    await laptop.change("on the laptop")
    await in_conflict(phone, laptop)
    await laptop.vault.add_key(STRANGER)
    refused = AsyncMock(return_value=SimpleNamespace(success=False, error=error))
    monkeypatch.setattr(AsyncVault, "unlock", refused)
    with pytest.raises(OtherKeys, match=error):
        await laptop.client.choose_snapshot(version, STRANGER)
    assert not (await laptop.vault.status()).locked
    refused.return_value.error = "invalid_database"  # damaged: this device's version replaces it
    await laptop.client.choose_snapshot("here", STRANGER)


async def test_removals_that_cannot_be_listed_are_not_taken_for_none():
    vault = AsyncMock()
    vault.exec.return_value = SimpleNamespace(success=False, result=None, error="internal")
    with pytest.raises(PluginCallError, match="the removed keys cannot be listed \\(internal\\)"):
        await removed_keys(vault)


async def test_a_passkey_that_is_added_again_is_removed_no_more(devices):
    laptop, phone = devices
    await laptop.vault.remove_key("prf", "lost")
    await laptop.vault.add_key(LOST)
    assert await removed_keys(laptop.vault) == set()
    await phone.change("on the phone")
    await in_conflict(laptop, phone)
    await phone.client.choose_snapshot("there", KEPT)
    assert "lost" in names(phone)


async def test_the_removals_of_both_devices_count_but_the_last_key_is_not_removed_by_another_devices_word(devices):
    laptop, phone = devices
    await phone.vault.add_key(SECRET)
    for key_id in ("lost", "kept"):
        await phone.vault.remove_key("prf", key_id)
    await laptop.vault.remove_key("prf", "lost")
    await laptop.vault.remove_key("secret", SECRET.id)
    await in_conflict(phone, laptop)
    with pytest.raises(PluginCallError) as caught:
        await laptop.client.choose_snapshot("here", SECRET)
    assert caught.value.code == "last_wrap"
    assert names(laptop) == {"kept"}


async def test_a_version_under_another_data_key_is_overruled_as_before(devices, tmp_path, host, monkeypatch):
    """The other device was paired by an earlier release, so this device's keys do not open that device's version."""
    laptop, _ = devices
    async with Device(tmp_path / "old", host) as old:
        first = await old.vault.sync_init()
        answer = await laptop.vault.sync_respond(first.session_id, public_key=first.public_key)
        shown = await old.vault.sync_compare(first.session_id, public_key=answer.public_key)
        await laptop.vault.sync_compare(first.session_id, reveal=shown.reveal)
        respond_without_keys(monkeypatch)
        sent = await laptop.vault.sync_respond(first.session_id, code=shown.code)
        await old.vault.sync_complete(first.session_id, shown.code, sent.encrypted_vault, PHONE)
        with pytest.raises(SnapshotConflict):
            await old.client.publish_snapshot()
        await old.client.choose_snapshot("here", PHONE)
    await laptop.change("on the laptop")
    with pytest.raises(SnapshotConflict):
        await laptop.client.publish_snapshot()
    assert (await laptop.client.choose_snapshot("here", KEPT)).status == "pinned"
    assert "lost" in names(laptop)


async def test_keys_that_another_version_removed_are_removed_and_recorded_if_this_version_never_had_them():
    vault = AsyncMock()
    vault.keys.return_value = SimpleNamespace(wraps=[{"kind": "prf", "id": it} for it in ("lost", "kept")])
    vault.exec.return_value = SimpleNamespace(error=None)
    assert await remove_all(vault, {("password", "lost"), ("prf", "gone"), ("prf", "lost")})
    assert [it.args[1]["value"] for it in vault.exec.await_args_list] == ["password:lost", "prf:gone"]
    assert {it.args[0] for it in vault.exec.await_args_list} == {"resource:tokens action:create"}
    assert vault.remove_key.await_args_list == [call("prf", "lost")]
    assert not await remove_all(vault, {("prf", "gone")})

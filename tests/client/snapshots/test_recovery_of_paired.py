"""Each of a person's passkeys opens the newest snapshot from any device; recovery asks if one opens only an older one."""

import contextlib
import re
from datetime import UTC, datetime

import msgspec
import pytest
from tests.client.snapshots.devices import Device, pair, published
from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.client.passkeys import Authenticator, PasskeyKey, Person
from holdfast.client.snapshots.publishing import SnapshotConflict
from holdfast.client.snapshots.recovery import RecoveryRefused
from holdfast.client.storage import snapshots

SITE = "http://localhost:8787"
TIME = r"20\d\d-\d\d-\d\d \d\d:\d\d UTC"


@pytest.fixture
async def laptop(tmp_path, host):
    async with published(tmp_path / "laptop", host, "on the laptop") as device:
        yield device


async def passkey_for(device, authenticator):
    """Add a passkey to a vault, with the vault's user handle."""
    person = Person.of(await device.vault.publishing_key(), "ada")
    return PasskeyKey(authenticator, authenticator.create_passkey(person).credential_id)


@contextlib.asynccontextmanager
async def paired(folder, host, old):
    """Return a phone that has received another device's vault by pairing, and opens it with a separate passkey."""
    async with Device(folder, host) as new:
        new.authenticator = Authenticator(SITE, SoftwareAuthenticator())
        await pair(old, new, await passkey_for(old, new.authenticator))
        yield new


async def recovered(folder, host, authenticator, accept=None):
    """Recover from a passkey alone on an empty device; return the names of the rows and the result."""
    async with Device(folder, host) as device:
        found = await device.client.recover(passkey=authenticator, accept=accept)
        rows = await device.vault.exec("resource:services action:list")
        return {row["id"] for row in rows.result}, found


async def test_the_passkeys_of_all_devices_open_what_the_new_one_published(tmp_path, host, laptop):
    """A laptop and a phone that were paired are both lost, and only one of the person's synced passkeys is left."""
    watch = Authenticator(SITE, SoftwareAuthenticator())
    async with paired(tmp_path / "phone", host, laptop) as phone:
        await phone.change("on the phone")
        await phone.vault.add_key(await passkey_for(phone, watch))
        state = await phone.client.publish_snapshot()
        for number, authenticator in enumerate((laptop.authenticator, phone.authenticator, watch)):
            rows, found = await recovered(tmp_path / f"lost {number}", host, authenticator)
            assert rows == {"on the laptop", "on the phone"}
            assert (found.root_cid, found.newer_root) == (state.acknowledged_root, None)


async def without(device, authenticator):
    """Make the device remove another device's passkey and publish a snapshot."""
    await device.vault.remove_key("prf", authenticator.discover().credential_id)
    return await device.client.publish_snapshot()


async def test_an_older_snapshot_is_opened_only_when_the_person_says_so(tmp_path, host, laptop):
    """The fake service retains unpinned snapshots, like a gateway that caches them."""
    first = await laptop.client.snapshot_state()
    async with paired(tmp_path / "phone", host, laptop) as phone:
        await phone.change("on the phone")
        newest = await without(phone, laptop.authenticator)
        asked = []
        with pytest.raises(RecoveryRefused, match="the newest snapshot, from 20"):
            await recovered(tmp_path / "lost", host, laptop.authenticator, asked.append)
        assert re.fullmatch(f"the newest snapshot, from {TIME}, cannot be .* one from {TIME} can, but lacks .*", *asked)
        rows, found = await recovered(tmp_path / "lost", host, laptop.authenticator, lambda _: True)
        assert rows == {"on the laptop"}
        assert (found.root_cid, found.newer_root) == (first.acknowledged_root, newest.acknowledged_root)
        assert found.newer_updated_at >= found.updated_at
        # A version that this key does not open is not replaced, unless the person chooses to replace it.
        async with Device(tmp_path / "lost", host) as again:
            key = PasskeyKey(laptop.authenticator, laptop.authenticator.discover().credential_id)
            await again.vault.unlock(key)
            assert (await again.client.snapshot_state()).status == "conflict"
            with pytest.raises(SnapshotConflict):
                await again.client.publish_snapshot()
            assert (await again.client.choose_snapshot("here", key)).sequence == newest.sequence + 1


async def test_an_older_snapshot_of_another_vault_is_not_opened(tmp_path, host, laptop):
    """A root may refer to any previous snapshot; recovery uses only one that the same publishing key has signed."""
    async with Device(tmp_path / "other", host) as other:
        await other.made(laptop.authenticator)
        foreign = await other.client.publish_snapshot()
    async with paired(tmp_path / "phone", host, laptop) as phone:
        newest = await without(phone, laptop.authenticator)
        stored, signed = phone.store.load(), await phone.vault.publishing_delegation()
        manifest = msgspec.structs.replace(stored.manifest, root_cid=foreign.acknowledged_root)
        forged = snapshots.take(manifest, stored.sealed, bytes(signed.signed_dag_cbor))
        host.blocks.update({block.cid: block.data for block in forged.blocks})
        signed = await phone.vault.publish(forged.root_cid, newest.sequence + 1, datetime(2040, 1, 1, tzinfo=UTC), 1)
        host.records[await phone.name()] = signed.record
    async with Device(tmp_path / "lost", host) as device:
        with pytest.raises(RecoveryRefused) as caught:
            await device.client.recover(passkey=laptop.authenticator, name=signed.name)
        assert caught.value.code == "wrong_key"

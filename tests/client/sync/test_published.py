"""A device that is paired after the first snapshot can publish without conflict, and trusts no snapshot of a stranger."""

import contextlib

import pytest
from tests.client.snapshots.devices import Device, pair
from tests.client.snapshots.fake_host import FakeHost

from holdfast.client.snapshots.publishing import SnapshotConflict
from holdfast.client.vault.keys import SecretKey

NEW_KEY = SecretKey(b"n" * 32)


@pytest.fixture
async def old(tmp_path, host):
    async with Device(tmp_path / "old", host) as device:
        await device.made()
        await device.change("before")
        yield device


@contextlib.asynccontextmanager
async def paired(folder, host, old, changed=lambda answer: answer):
    """Return a new device that has received the old device's vault."""
    async with Device(folder, host) as new:
        await pair(old, new, NEW_KEY, changed)
        yield new


async def test_the_new_device_replaces_an_older_record(old, host, tmp_path):
    await old.client.publish_snapshot()
    older = dict(host.records)
    await old.change("later")
    await old.client.publish_snapshot()
    async with paired(tmp_path / "new", host, old) as new:
        note = f"snapshot-record:{(await new.vault.status()).did}"
        assert new.store.note(note) == old.store.note(note) is not None, "which it gives to a third device"
        host.records = older
        assert (await new.client.publish_snapshot()).sequence == 3


@pytest.mark.parametrize("record", ["00", "not hexadecimal", 7, "ff" * 20_000, "of another vault"])
async def test_a_record_that_the_vault_did_not_sign_is_ignored(old, host, tmp_path, record):
    await old.client.publish_snapshot()
    async with Device(tmp_path / "other", FakeHost()) as other:
        await other.made()
        await other.client.publish_snapshot()
        foreign = other.store.note(f"snapshot-record:{(await other.vault.status()).did}")
    given = foreign if record == "of another vault" else record
    async with paired(tmp_path / "new", host, old, lambda answer: {**answer, "record": given}) as new:
        assert (await new.client.snapshot_state()).acknowledged_root is None
        with pytest.raises(SnapshotConflict):
            await new.client.publish_snapshot()

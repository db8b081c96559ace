"""A device that is paired after the first snapshot can publish without conflict, and trusts no snapshot of a stranger."""

from __future__ import annotations

import contextlib

import pytest
from tests.client.snapshots.devices import Device
from tests.client.snapshots.place_double import PlaceDouble

from holdfast.client.snapshots.publishing import SnapshotConflict, SnapshotRolledBack
from holdfast.client.sync.protocol import AsyncPairingServer, receive
from holdfast.client.vault.keys import SecretKey

NEW_KEY = SecretKey(b"n" * 32)


@pytest.fixture
def place():
    return PlaceDouble()


@pytest.fixture
async def old(tmp_path, place):
    async with Device(tmp_path / "old", place) as device:
        await device.made()
        await device.change("before")
        yield device


class Channel:
    """A channel in memory; `changed` alters the last response in transit."""

    def __init__(self, server, changed=lambda answer: answer):
        self._server, self._changed = server, changed

    async def ask(self, message):
        answer = await self._server.handle(message)
        return self._changed(answer) if message["step"] == "reveal" else answer


@contextlib.asynccontextmanager
async def paired(folder, place, old, changed=lambda answer: answer):
    """Return a new device that has received the old device's vault."""
    shown = []
    server = AsyncPairingServer(old.vault, lambda _digits: shown[0])
    async with Device(folder, place) as new:
        await receive(new.vault, Channel(server, changed), NEW_KEY, shown.append, lambda _digits: True)
        yield new


async def test_the_new_device_continues_what_was_published(old, place, tmp_path):
    published = await old.client.publish_snapshot()
    async with paired(tmp_path / "new", place, old) as new:
        await new.change("after")
        state = await new.client.publish_snapshot()
        assert (state.status, state.sequence) == ("pinned", published.sequence + 1)
        snapshot = await new.gateway.snapshot(state.acknowledged_root)
        assert snapshot.manifest.root_cid == published.acknowledged_root


async def test_what_was_not_published_yet_goes_up_from_either_device(old, place, tmp_path):
    await old.client.publish_snapshot()
    await old.change("not published")
    async with paired(tmp_path / "new", place, old) as new:
        assert (await new.client.publish_snapshot()).sequence == 2
        rows = await new.vault.exec("resource:services action:list")
        assert sorted(row["id"] for row in rows.result) == ["before", "not published"]


async def test_before_the_first_snapshot_there_is_nothing_to_continue(old, place, tmp_path):
    async with paired(tmp_path / "new", place, old) as new:
        assert (await new.client.publish_snapshot()).sequence == 1


async def test_a_snapshot_after_the_pairing_is_still_a_conflict(old, place, tmp_path):
    await old.client.publish_snapshot()
    async with paired(tmp_path / "new", place, old) as new:
        await old.change("on the old device")
        await old.client.publish_snapshot()
        with pytest.raises(SnapshotConflict):
            await new.client.publish_snapshot()


async def test_the_new_device_notices_an_older_record(old, place, tmp_path):
    await old.client.publish_snapshot()
    older = dict(place.records)
    await old.change("later")
    await old.client.publish_snapshot()
    async with paired(tmp_path / "new", place, old) as new:
        place.records = older
        with pytest.raises(SnapshotRolledBack):
            await new.client.publish_snapshot()


@pytest.mark.parametrize("record", ["00", "not hexadecimal", 7, "ff" * 20_000, "of another vault"])
async def test_a_record_that_the_vault_did_not_sign_is_ignored(old, place, tmp_path, record):
    await old.client.publish_snapshot()
    async with Device(tmp_path / "other", PlaceDouble()) as other:
        await other.made()
        await other.client.publish_snapshot()
        foreign = other.store.note(f"snapshot-record:{(await other.vault.status()).did}")
    given = foreign if record == "of another vault" else record
    async with paired(tmp_path / "new", place, old, lambda answer: {**answer, "record": given}) as new:
        assert (await new.client.snapshot_state()).acknowledged_root is None
        with pytest.raises(SnapshotConflict):
            await new.client.publish_snapshot()

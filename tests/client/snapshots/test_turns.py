"""What changes the stored state of a vault's snapshots does so in turn, whatever flow it is part of."""

import asyncio
import time
from functools import partial

import httpx2
import pytest
from tests.client.snapshots.devices import MANUAL, ONCE, Device, published
from tests.client.snapshots.fake_host import FakeHost

from holdfast.client.moving.copying import continue_there, copy_to
from holdfast.client.passkeys import PasskeyKey
from holdfast.client.snapshots.hosts import SnapshotHosts, full_config
from holdfast.client.snapshots.state import record_name
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.sync.published import continue_from

HEAD_START_S = 0.3  # of what must wait: on a slow machine, too short to show that it did not


class PublishingHost(FakeHost):
    """A host at which another flow begins while a record is being published."""

    flow = None

    @property
    def transport(self):
        return httpx2.MockTransport(self.answer_late)

    async def answer_late(self, request):
        if request.method == "PUT" and self.flow is not None:
            self.begun = asyncio.ensure_future(self.flow())
            await asyncio.wait([self.begun], timeout=HEAD_START_S)
        return self.answer(request)


@pytest.fixture
def host():
    return PublishingHost(steps=("pinned",))


@pytest.fixture
async def device(tmp_path, host):
    async with published(tmp_path / "one", host, "before") as device:
        yield device


async def key_of(device):
    return PasskeyKey(device.authenticator, (await device.vault.query()).credentials[0].credential_id)


async def moved(device):
    """Make a copy at another service, and return what continues from it, with the copy's root."""
    there = FakeHost(steps=("pinned",))
    connect = partial(
        SnapshotHosts, "https://new.example", full_config(MANUAL), retries=ONCE, transport=there.transport
    )
    copy = await copy_to(device.vault, device.store, connect, await key_of(device))
    return partial(continue_there, device.vault, device.store, copy), copy.snapshot.root_cid


async def paired(device):
    """Return what continues from the record that another device passes on, with that record's root."""
    state = await device.client.snapshot_state()
    record = device.store.note(record_name(state.did))
    return partial(continue_from, device.vault, record), state.acknowledged_root


@pytest.mark.parametrize("flow", [moved, paired])
async def test_who_continues_from_a_snapshot_waits_for_the_upload_that_changes_the_state(device, host, flow):
    continues, root = await flow(device)
    await device.change("after")
    host.flow = continues
    await device.client.publish_snapshot()
    await host.begun
    assert (await device.client.snapshot_state()).acknowledged_root == root


async def test_an_upload_waits_for_the_recovery_that_opened_the_vault(device, host, tmp_path, monkeypatch):
    def late(store, name, value, noted=VaultStore.set_note):
        if name.startswith("snapshots:"):
            time.sleep(HEAD_START_S)
        noted(store, name, value)

    monkeypatch.setattr(VaultStore, "set_note", late)
    key = await key_of(device)
    async with Device(tmp_path / "two", host) as new:
        uploads = []
        new.vault.listeners.append(lambda: uploads.append(asyncio.ensure_future(new.client.publish_snapshot())))
        found = await new.client.recover(key=key, name=await device.name())
        assert (await uploads[0]).acknowledged_root == found.root_cid

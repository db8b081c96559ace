"""A vault is recovered from a passkey; vectors/flows/recover_*.json says what is refused, and that nothing is stored then."""

import dataclasses
from datetime import UTC, datetime

import msgspec
import pytest
from tests.client.snapshots.devices import Device, published
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.vaults import SECRET

from holdfast.client import types
from holdfast.client.passkeys import Authenticator, PasskeyKey, Person
from holdfast.client.snapshots.recovery import RecoveryRefused, check_binding
from holdfast.client.types import GenerateInput
from holdfast.wire.client_errors import ClientStateError, StorageError

SITE = "http://localhost:8787"


@pytest.fixture
async def first(tmp_path, host):
    async with published(tmp_path / "first", host, "before") as device:
        yield device


@pytest.fixture
async def new(tmp_path, host):
    async with Device(tmp_path / "new", host) as device:
        yield device


async def contents(vault):
    tables = [await vault.exec(f"resource:{resource} action:list") for resource in types.Resource]
    return [table.result for table in tables]


async def test_a_passkey_alone_brings_everything_back(first, new):
    steps = []
    found = await new.client.recover(passkey=first.authenticator, on_progress=steps.append)
    assert steps == ["snapshot found", "snapshot verified", "vault opened"]
    assert found.did == (await first.vault.status()).did
    assert await contents(new.vault) == await contents(first.vault)
    assert new.store.load().sealed == first.store.load().sealed
    assert (await new.client.snapshot_state()).sequence == found.sequence == 1
    await new.change("after")
    assert (await new.client.publish_snapshot()).sequence == 2


async def test_an_older_passkey_leads_over_the_service(tmp_path, host, new):
    async with Device(tmp_path / "a", host) as device:
        authenticator = Authenticator(SITE, SoftwareAuthenticator())
        passkey = authenticator.create_passkey(Person("ada"))
        key = PasskeyKey(authenticator, passkey.credential_id)
        await device.vault.generate(GenerateInput(credential=passkey.credential), key)
        await device.client.publish_snapshot()
        did = (await device.vault.status()).did
        with pytest.raises(RecoveryRefused, match="no snapshot"):
            await new.client.recover(passkey=authenticator)
        host.names[passkey.credential_id] = await device.name()
        assert (await new.client.recover(passkey=authenticator)).did == did


async def test_a_name_that_the_vaults_key_does_not_stand_behind_is_refused(tmp_path, first, new, host):
    """A stranger with a different passkey publishes this person's snapshot under the stranger's own IPNS name."""
    async with Device(tmp_path / "stranger", host) as stranger:
        await stranger.made()
        foreign = bytes((await stranger.vault.publishing_delegation()).signed_dag_cbor)
        key = bytes.fromhex((await stranger.vault.publishing_key()).public_key)
        forged = [first.snapshot_of(first.store.load(), it) for it in (None, foreign)]
        host.blocks |= {block.cid: block.data for block in forged[0].blocks}
        record = await stranger.vault.publish(forged[0].root_cid, 1, datetime(2040, 1, 1, tzinfo=UTC), 60 * 10**9)
        host.records[await stranger.name()] = record.record
        with pytest.raises(RecoveryRefused, match="delegation"):
            await new.client.recover(key=SECRET, name=await stranger.name())
    assert new.store.dids() == []
    for snapshot in (await first.vault_snapshot(), forged[1]):
        with pytest.raises(RecoveryRefused, match="delegation"):
            check_binding(snapshot, key)


async def test_something_has_to_be_given_and_an_open_vault_is_not_overwritten(first, new):
    with pytest.raises(ValueError, match="passkey"):
        await new.client.recover(key=SECRET)
    with pytest.raises(ClientStateError, match="in use"):
        await first.client.recover(passkey=first.authenticator)


async def test_a_root_that_names_another_did_is_refused(first, new):
    stored = first.store.load()
    manifest = msgspec.structs.replace(stored.manifest, did="did:new:0x" + "11" * 32)
    forged = first.snapshot_of(dataclasses.replace(stored, manifest=manifest), None)
    with pytest.raises(StorageError, match="another DID"):
        await new.client.recover(key=SECRET, car=forged.to_car())

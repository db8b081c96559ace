"""A vault is recovered from a passkey, a name or a CAR file; each of a person's passkeys suffices, and a refused recovery stores nothing."""

import dataclasses
from datetime import UTC, datetime

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.client.snapshots.devices import Device, published
from tests.support.signed_records import sign_record
from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.vaults import GIVEN, SECRET

from holdfast.client import types
from holdfast.client.passkeys import Authenticator, PasskeyKey, Person
from holdfast.client.snapshots.recovery import RecoveryRefused
from holdfast.client.types import DelegationOptions, GenerateInput, Octets
from holdfast.client.vault import calls
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.content.names import did_key_of, name_of
from holdfast.wire.client_errors import ClientStateError, StorageError


class SoftwarePublishing(AsyncVault):
    """An AsyncVault with its own publishing key (`publishing`) and the delegation to that key (`binding`)."""

    publishing: Ed25519PrivateKey
    binding: bytes

    async def made(self, given, key):
        await self.generate(given, key)
        self.publishing = Ed25519PrivateKey.generate()
        options = DelegationOptions(to=(await self.publishing_key()).did, command="/snapshots/publish")
        self.binding = await self.mint_delegation(options)
        return self

    async def publishing_key(self):
        key = self.publishing.public_key().public_bytes_raw()
        return calls.PublishingKey(public_key=key.hex(), name=name_of(key), did=did_key_of(key), pending=False)

    async def publish(self, root_cid, sequence, validity, ttl_ns):
        record = sign_record(self.publishing, root_cid, sequence, validity, ttl_ns // 10**9)
        return calls.PublishedRecord(record=Octets(record), name=(await self.publishing_key()).name)

    async def publishing_delegation(self):
        return self.binding


SITE = "http://localhost:8787"


@pytest.fixture
async def first(tmp_path, host):
    async with published(tmp_path / "first", host, "before") as device:
        yield device


@pytest.fixture
async def new(tmp_path, host, first):
    async with Device(tmp_path / "new", host) as device:
        yield device


async def contents(vault):
    tables = [await vault.exec(f"resource:{resource} action:list") for resource in types.Resource]
    return [table.result for table in tables]


def nothing_kept(device):
    return device.store.dids() == []


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


async def test_an_older_passkey_leads_over_the_service(tmp_path, host):
    async with Device(tmp_path / "a", host) as device, Device(tmp_path / "b", host) as new:
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


@pytest.mark.parametrize("binding", [None, "another key", "another vault"])
async def test_a_name_that_the_vaults_key_does_not_stand_behind_is_refused(tmp_path, first, new, host, binding):
    """A stranger with a different passkey publishes this person's snapshot under the stranger's own IPNS name."""
    async with Device(tmp_path / "other", host, kind=SoftwarePublishing) as other:
        await other.vault.made(GIVEN, SECRET)
        delegation = {
            None: None,
            "another key": await first.vault.publishing_delegation(),
            "another vault": other.vault.binding,
        }[binding]
        stored = first.store.load()
        forged = first.snapshot_of(stored, bytes(delegation.signed_dag_cbor) if delegation else None)
        host.blocks |= {block.cid: block.data for block in forged.blocks}
        record = await other.vault.publish(forged.root_cid, 1, datetime(2040, 1, 1, tzinfo=UTC), 60 * 10**9)
        host.records[await other.name()] = record.record
        with pytest.raises(StorageError, match="delegation"):
            await new.client.recover(key=SECRET, name=await other.name())
    assert nothing_kept(new)


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

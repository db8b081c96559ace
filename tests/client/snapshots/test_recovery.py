"""A vault is recovered from a passkey, a name or a CAR file; a refused recovery stores nothing."""

from __future__ import annotations

import dataclasses
import time
from datetime import UTC, datetime, timedelta
from functools import partial

import msgspec
import pytest
from tests.client.snapshots.devices import GIVEN, SECRET, Device
from tests.client.snapshots.place_double import PlaceDouble
from tests.client.snapshots.software_publishing import SoftwarePublishing
from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.client import types
from holdfast.client.passkeys import Authenticator, PasskeyKey, Person
from holdfast.client.snapshots.publishing import SnapshotRolledBack
from holdfast.client.snapshots.recovery import RecoveryRefused
from holdfast.client.snapshots.state import SnapshotState, write_state
from holdfast.client.types import GenerateInput
from holdfast.client.vault.keys import SecretKey
from holdfast.wire.client_errors import ClientStateError, NetworkError, StorageError

SITE = "http://localhost:8787"


@pytest.fixture
def place():
    return PlaceDouble()


@pytest.fixture
async def first(tmp_path, place):
    """A device that has published a snapshot and has a passkey whose user handle is the publishing key."""
    async with Device(tmp_path / "first", place) as device:
        device.authenticator = Authenticator(SITE, SoftwareAuthenticator())
        await device.made(device.authenticator)
        await device.change("before")
        await device.client.publish_snapshot()
        yield device


@pytest.fixture
async def new(tmp_path, place, first):
    async with Device(tmp_path / "new", place) as device:
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


async def test_an_older_passkey_leads_over_the_service(tmp_path, place):
    async with Device(tmp_path / "a", place) as device, Device(tmp_path / "b", place) as new:
        authenticator = Authenticator(SITE, SoftwareAuthenticator())
        passkey = authenticator.create_passkey(Person("ada"))
        key = PasskeyKey(authenticator, passkey.credential_id)
        await device.vault.generate(GenerateInput(credential=passkey.credential), key)
        await device.client.publish_snapshot()
        did = (await device.vault.status()).did
        with pytest.raises(RecoveryRefused, match="no snapshot"):
            await new.client.recover(passkey=authenticator)
        place.names[passkey.credential_id] = await device.name()
        assert (await new.client.recover(passkey=authenticator)).did == did


async def test_with_the_service_gone_a_car_file_is_enough(first, new, place):
    car = (await first.vault_snapshot()).to_car()
    place.lost_requests = 1000
    found = await new.client.recover(passkey=first.authenticator, car=car)
    assert (found.did, found.sequence) == ((await first.vault.status()).did, None)
    assert await contents(new.vault) == await contents(first.vault)


async def test_with_the_service_gone_a_gateways_copy_is_used_only_when_the_person_says_so(tmp_path, first, place):
    """A server that once had a record can return it for years, so nothing else shows that it is an old one."""
    config = types.SnapshotConfig(automatic=False, gateway_urls=("https://liar.example", "https://mirror.example"))
    place.down, place.liars = {"vault.example"}, {"liar.example"}
    async with Device(tmp_path / "new", place, config) as new:
        with pytest.raises(
            RecoveryRefused, match=r"vault\.example did not answer.* is from 20\d\d-\d\d-\d\d"
        ) as caught:
            await new.client.recover(passkey=first.authenticator)
        assert caught.value.code == "unconfirmed"
        assert nothing_kept(new)
        asked, steps = [], []
        accept = partial(_agree, asked)
        found = await new.client.recover(passkey=first.authenticator, accept=accept, on_progress=steps.append)
        assert found.sequence == 1
        assert len(asked) == 1 and "there may be a newer copy" in asked[0]
        assert "vault.example did not answer: no answer (ConnectError)" in steps


def _agree(asked, question):
    asked.append(question)
    return True


async def test_a_gateway_that_does_not_answer_is_named_and_stops_nothing(tmp_path, first, place):
    config = types.SnapshotConfig(automatic=False, gateway_urls=("https://down.example",))
    place.down, steps = {"down.example"}, []
    async with Device(tmp_path / "new", place, config) as new:
        assert (await new.client.recover(passkey=first.authenticator, on_progress=steps.append)).sequence == 1
        assert "down.example did not answer: no answer (ConnectError)" in steps
        await new.change("after")
        assert (await new.client.publish_snapshot()).sequence == 2


async def test_no_snapshot_is_said_only_when_every_server_answered(tmp_path, first, place):
    name, config = await first.name(), types.SnapshotConfig(automatic=False, gateway_urls=("https://mirror.example",))
    place.records, place.down = {}, {"vault.example"}
    async with Device(tmp_path / "new", place, config) as new:
        with pytest.raises(NetworkError, match="ConnectError"):
            await new.client.recover(key=SECRET, name=name)
        place.down = set()
        with pytest.raises(RecoveryRefused) as caught:
            await new.client.recover(key=SECRET, name=name)
        assert caught.value.code == "no_snapshot"


async def test_each_servers_own_reason_is_in_the_error(tmp_path, first, place):
    config = types.SnapshotConfig(automatic=False, gateway_urls=("https://liar.example",))
    place.down, place.liars = {"vault.example"}, {"liar.example"}
    async with Device(tmp_path / "new", place, config) as new:
        reasons = r"liar\.example: a block does not match its CID; vault\.example: no answer \(ConnectError\)"
        with pytest.raises(NetworkError, match=reasons):
            await new.client.recover(passkey=first.authenticator, accept=lambda _: True)
        assert nothing_kept(new)


async def test_the_newest_record_of_several_gateways_counts(tmp_path, first, place):
    place.old = {"old.example": dict(place.records)}
    await first.change("later")
    await first.client.publish_snapshot()
    config = types.SnapshotConfig(automatic=False, gateway_urls=("https://old.example",))
    async with Device(tmp_path / "new", place, config) as new:
        assert (await new.client.recover(passkey=first.authenticator)).sequence == 2


async def test_a_password_and_a_name_do_as_well(tmp_path, place):
    async with Device(tmp_path / "a", place) as device, Device(tmp_path / "b", place) as new:
        await device.made()
        await device.client.publish_snapshot()
        assert (await new.client.recover(key=SECRET, name=await device.name())).did == device.store.dids()[0]


async def test_an_older_snapshot_is_taken_only_when_the_person_says_so(first, new):
    did = (await first.vault.status()).did
    write_state(new.store, SnapshotState(did=did, sequence=5))
    with pytest.raises(SnapshotRolledBack):
        await new.client.recover(passkey=first.authenticator)
    assert nothing_kept(new)
    asked = []
    with pytest.raises(SnapshotRolledBack):
        await new.client.recover(passkey=first.authenticator, accept=asked.append)
    assert "sequence 1" in asked[0]
    assert (await new.client.recover(passkey=first.authenticator, accept=lambda _: True)).did == did


async def test_an_expired_record_is_taken_only_when_the_person_says_so(first, new, place, monkeypatch):
    root = (await first.client.snapshot_state()).acknowledged_root
    place.records[await first.name()] = (
        await first.vault.publish(root, 9, datetime.now(UTC) + timedelta(seconds=2), 60)
    ).record
    monkeypatch.setattr(time, "time", lambda now=time.time: now() + 10)
    with pytest.raises(RecoveryRefused, match="expired") as caught:
        await new.client.recover(passkey=first.authenticator)
    assert caught.value.code == "expired"
    assert (await new.client.recover(passkey=first.authenticator, accept=lambda _: True)).sequence == 9


async def test_a_passkey_without_prf_is_told(new):
    passkeys = SoftwareAuthenticator(prf=False)
    authenticator = Authenticator(SITE, passkeys)
    authenticator.create_passkey(Person("ada"))
    with pytest.raises(RecoveryRefused, match="no PRF") as caught:
        await new.client.recover(passkey=authenticator)
    assert caught.value.code == "no_prf"


async def test_another_passkey_finds_nothing(new):
    authenticator = Authenticator(SITE, SoftwareAuthenticator())
    authenticator.create_passkey(Person("eve"))
    with pytest.raises(RecoveryRefused, match="no snapshot") as caught:
        await new.client.recover(passkey=authenticator)
    assert caught.value.code == "no_snapshot"


async def test_another_key_does_not_open_it(first, new):
    with pytest.raises(RecoveryRefused, match="does not open") as caught:
        await new.client.recover(key=SecretKey(b"x" * 32), name=await first.name())
    assert caught.value.code == "wrong_key"
    assert nothing_kept(new)


async def test_corrupted_blocks_are_refused(first, new, place):
    place.lie = True
    with pytest.raises(StorageError, match="does not match its CID"):
        await new.client.recover(passkey=first.authenticator)
    assert nothing_kept(new)


async def test_half_an_upload_is_refused(first, new, place):
    root = (await first.client.snapshot_state()).acknowledged_root
    place.blocks = {root: place.blocks[root]}
    with pytest.raises(RecoveryRefused, match="missing at all gateways") as caught:
        await new.client.recover(passkey=first.authenticator)
    assert caught.value.code == "incomplete"
    assert nothing_kept(new)


@pytest.mark.parametrize("binding", [None, "another key", "another vault"])
async def test_a_name_that_the_vaults_key_does_not_stand_behind_is_refused(tmp_path, first, new, place, binding):
    """A stranger with a different passkey publishes this person's snapshot under the stranger's own IPNS name."""
    async with Device(tmp_path / "other", place, kind=SoftwarePublishing) as other:
        await other.vault.made(GIVEN, SECRET)
        delegation = {
            None: None,
            "another key": await first.vault.publishing_delegation(),
            "another vault": other.vault.binding,
        }[binding]
        stored = first.store.load()
        forged = first.snapshot_of(stored, bytes(delegation.signed_dag_cbor) if delegation else None)
        place.blocks |= {block.cid: block.data for block in forged.blocks}
        record = await other.vault.publish(forged.root_cid, 1, datetime(2040, 1, 1, tzinfo=UTC), 60 * 10**9)
        place.records[await other.name()] = record.record
        with pytest.raises(StorageError, match="delegation"):
            await new.client.recover(key=SECRET, name=await other.name())
    assert nothing_kept(new)


async def test_a_root_that_names_another_did_is_refused(first, new, place):
    stored = first.store.load()
    manifest = msgspec.structs.replace(stored.manifest, did="did:new:0x" + "11" * 32)
    forged = first.snapshot_of(dataclasses.replace(stored, manifest=manifest), None)
    with pytest.raises(StorageError, match="another DID"):
        await new.client.recover(key=SECRET, car=forged.to_car())


async def test_a_vault_that_is_there_is_not_overwritten(first):
    with pytest.raises(ClientStateError, match="in use"):
        await first.client.recover(passkey=first.authenticator)


async def test_a_newer_version_on_this_device_stays(first, tmp_path, place):
    car = (await first.vault_snapshot()).to_car()
    await first.change("newer")
    newest = first.store.load()
    await first.vault.close()
    first.store.close()
    async with Device(tmp_path / "first", place) as again:
        with pytest.raises(RecoveryRefused, match="newer version"):
            await again.client.recover(passkey=first.authenticator, car=car)
        assert again.store.load() == newest


async def test_something_has_to_be_given(new):
    with pytest.raises(ValueError, match="passkey"):
        await new.client.recover(key=SECRET)

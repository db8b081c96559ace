"""A registered vault's snapshot is uploaded to a real service, published there, and recovered on a new device."""

from __future__ import annotations

import secrets

import pytest
from tests.client.snapshots.devices import Device
from tests.support.running_service import running_service
from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.client.async_client import AsyncClient
from holdfast.client.http.refusals import RequestRefused
from holdfast.client.passkeys import Authenticator, PasskeyKey, Person
from holdfast.client.snapshots.recovery import RecoveryRefused
from holdfast.client.types import GenerateInput, SnapshotConfig


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service without a chain, where registration is deferred."""
    with running_service(tmp_path_factory.mktemp("service"), MAX_REGISTRATIONS_PER_IP="1000") as running:
        yield running


@pytest.fixture
def config(service):
    port = service.base_url.rpartition(":")[2]
    return SnapshotConfig(automatic=False, service_did=f"did:web:localhost%3A{port}")


@pytest.fixture
async def first(tmp_path, service, config):
    async with Device(tmp_path / "first", config=config, url=service.base_url) as device:
        device.authenticator = Authenticator(
            service.base_url.replace("127.0.0.1", "localhost"), SoftwareAuthenticator()
        )
        await device.made(device.authenticator)
        yield device


async def test_from_registration_to_recovery(first, tmp_path, service, config):
    with pytest.raises(RequestRefused) as caught:
        await first.client.publish_snapshot()
    assert caught.value.code == "DID_NOT_REGISTERED"
    await first.client.register(handle="s" + secrets.token_hex(6))
    state = await first.client.publish_snapshot()
    assert (state.status, state.sequence) == ("pinned", 1)
    for number in range(3):
        await first.change(str(number))
        state = await first.client.publish_snapshot()
    assert state.sequence == 4
    async with Device(tmp_path / "new", config=config, url=service.base_url) as new:
        found = await new.client.recover(passkey=first.authenticator)
        assert found.root_cid == state.acknowledged_root
        assert new.store.load().sealed == first.store.load().sealed
        await new.change("on the new device")
        assert (await new.client.publish_snapshot()).sequence == 5


async def test_a_token_for_another_service_is_refused_in_words(first, service):
    await first.client.register(handle="s" + secrets.token_hex(6))
    elsewhere = SnapshotConfig(automatic=False, service_did="did:web:elsewhere.example")
    async with AsyncClient(service.base_url, vault=first.vault, snapshots=elsewhere) as client:
        with pytest.raises(RequestRefused) as caught:
            await client.publish_snapshot()
    assert caught.value.code == "WRONG_AUDIENCE"


async def test_an_older_passkey_leads_over_the_service(tmp_path, service, config):
    authenticator = Authenticator(service.base_url.replace("127.0.0.1", "localhost"), SoftwareAuthenticator())
    passkey = authenticator.create_passkey(Person("ada"))
    async with (
        Device(tmp_path / "a", config=config, url=service.base_url) as device,
        Device(tmp_path / "b", config=config, url=service.base_url) as new,
    ):
        key = PasskeyKey(authenticator, passkey.credential_id)
        await device.vault.generate(GenerateInput(credential=passkey.credential), key)
        with pytest.raises(RecoveryRefused, match="no snapshot"):
            await new.client.recover(passkey=authenticator)
        await device.client.register(handle="o" + secrets.token_hex(6))
        with pytest.raises(RecoveryRefused, match="no snapshot"):
            await new.client.recover(passkey=authenticator)
        await device.client.publish_snapshot()
        assert (await new.client.recover(passkey=authenticator)).did == device.store.dids()[0]

"""Each of a person's passkeys opens the newest snapshot from any device; recovery asks if one opens only an older one."""

import contextlib

import pytest
from tests.client.snapshots.devices import Device, pair, published
from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.client.passkeys import Authenticator, PasskeyKey, Person

SITE = "http://localhost:8787"


@pytest.fixture
async def laptop(tmp_path, host):
    async with published(tmp_path / "laptop", host, "on the laptop") as device:
        yield device


async def passkey_for(device, authenticator):
    person = Person.of(await device.vault.publishing_key(), "ada")
    return PasskeyKey(authenticator, authenticator.create_passkey(person).credential_id)


@contextlib.asynccontextmanager
async def paired(folder, host, old):
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

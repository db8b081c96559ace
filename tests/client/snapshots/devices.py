"""Devices of one person that share a storage service."""

from __future__ import annotations

from tests.support.software_authenticator import SoftwareAuthenticator

from holdfast.client import types
from holdfast.client.async_client import AsyncClient
from holdfast.client.http.calls import Retries
from holdfast.client.passkeys import Authenticator, PasskeyKey, Person
from holdfast.client.storage import snapshots
from holdfast.client.storage.gateway import AsyncGateway
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.client.vault.keys import SecretKey

SECRET = SecretKey(b"k" * 32)
GIVEN = types.GenerateInput(
    credential=Authenticator("http://localhost:8787", SoftwareAuthenticator()).create_passkey(Person("ada")).credential
)
MANUAL = types.SnapshotConfig(automatic=False)
ONCE = Retries(attempts=1)


class Device:
    """A device: a vault with its store and a client that uses the storage service."""

    def __init__(self, folder, place=None, config=MANUAL, url="https://vault.example", kind=AsyncVault):
        self.store = VaultStore(directory=folder)
        self.vault = kind(self.store)
        self.states = []
        self.client = AsyncClient(
            url,
            vault=self.vault,
            snapshots=config,
            on_snapshot=lambda state: self.states.append(state.status),
            transport=place.transport if place else None,
            retries=ONCE,
        )
        self.gateway = AsyncGateway(url, None, retries=ONCE, transport=place.transport if place else None)

    async def __aenter__(self):
        await self.vault.boot()
        return self

    async def __aexit__(self, *_):
        await self.gateway.close()
        await self.client.close()
        await self.vault.close()
        self.store.close()

    async def change(self, name="row"):
        fields = {"id": name, "type": "note", "endpoint": "https://x.example"}
        done = await self.vault.exec("resource:services action:create", fields)
        assert done.success, done.error

    async def made(self, authenticator=None):
        """Create a vault that is opened by SECRET or, if there is an authenticator, by a passkey that identifies it."""
        if authenticator is None:
            passkey = Authenticator("http://localhost:8787", SoftwareAuthenticator()).create_passkey(Person("ada"))
            await self.vault.generate(types.GenerateInput(credential=passkey.credential), SECRET)
            return
        person = Person.of(await self.vault.publishing_key(), "ada")
        passkey = authenticator.create_passkey(person)
        key = PasskeyKey(authenticator, passkey.credential_id)
        await self.vault.generate(types.GenerateInput(credential=passkey.credential), key)

    async def name(self):
        return (await self.vault.publishing_key()).name

    async def vault_snapshot(self):
        """Return a snapshot of the newest stored revision."""
        return self.snapshot_of(self.store.load(), bytes((await self.vault.publishing_delegation()).signed_dag_cbor))

    @staticmethod
    def snapshot_of(stored, delegation):
        return snapshots.take(stored.manifest, stored.sealed, delegation)

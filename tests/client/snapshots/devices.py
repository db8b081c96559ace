"""Devices of one person that share a storage service."""

from contextlib import asynccontextmanager

from tests.support.software_authenticator import SoftwareAuthenticator
from tests.support.vaults import SECRET

from holdfast.client import types
from holdfast.client.async_client import AsyncClient
from holdfast.client.http.calls import Retries
from holdfast.client.passkeys import Authenticator, PasskeyKey, Person
from holdfast.client.snapshots.payment_notes import PaymentNote
from holdfast.client.snapshots.shared_notes import NotedPayments
from holdfast.client.storage import snapshots
from holdfast.client.storage.gateway import AsyncGateway
from holdfast.client.storage.vault_store import VaultStore
from holdfast.client.sync.protocol import AsyncPairingServer, receive
from holdfast.client.vault import calls
from holdfast.client.vault.async_vault import AsyncVault

MANUAL = types.SnapshotConfig(automatic=False)
ONCE = Retries(attempts=1)


class Device:
    """A device: a vault with its store and a client that uses the storage service."""

    def __init__(self, folder, host=None, config=MANUAL, url="https://vault.example"):
        self.store = VaultStore(directory=folder)
        self.vault = AsyncVault(self.store)
        self.states = []
        self.client = AsyncClient(
            url,
            vault=self.vault,
            snapshots=config,
            on_snapshot=lambda state: self.states.append(state.status),
            transport=host.transport if host else None,
            retries=ONCE,
        )
        self.gateway = AsyncGateway(url, None, retries=ONCE, transport=host.transport if host else None)

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
        return self.snapshot_of(self.store.load(), bytes((await self.vault.publishing_delegation()).signed_dag_cbor))

    @staticmethod
    def snapshot_of(stored, delegation):
        return snapshots.take(stored.manifest, stored.sealed, delegation)


async def pair(old, new, key, changed=lambda answer: answer):
    """Give the old device's vault to the new one, which opens it with `key`; `changed` alters the last response."""
    shown = []
    server = AsyncPairingServer(old.vault, lambda _digits: shown[0])

    class Channel:
        async def ask(self, message):
            answer = await server.handle(message)
            return changed(answer) if message["step"] == "reveal" else answer

    await receive(new.vault, Channel(), key, shown.append, lambda _digits: True)


def note(number, state="confirmed", **more):
    time = f"2026-01-02T03:04:{number:02d}.000Z"
    given = {"to": f"person-{number}", "amount": "5", "symbol": "USDC", "time": time, "state": state, **more}
    return PaymentNote(hash=f"0x{number:064x}", **given)


def paid(device, *notes):
    NotedPayments(device.store, device.store.dids()[0]).add(notes)


@asynccontextmanager
async def published(folder, host, change):
    """A device with a passkey whose user handle is the publishing key, and with a published snapshot."""
    async with Device(folder, host) as device:
        device.authenticator = Authenticator("http://localhost:8787", SoftwareAuthenticator())
        await device.made(device.authenticator)
        await device.change(change)
        await device.client.publish_snapshot()
        yield device


def respond_without_keys(monkeypatch):
    """Have every device respond to the digits as an earlier release did, which passes on no passkeys and passwords."""
    ours = calls.arguments
    monkeypatch.setattr(calls, "arguments", lambda fields: {n: v for n, v in ours(fields).items() if n != "with_keys"})

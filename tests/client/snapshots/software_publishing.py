"""A vault with its publishing key in this process, so that a test can publish under another vault's name."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.support.signed_records import sign_record

from holdfast.client.types import DelegationOptions, Octets
from holdfast.client.vault import calls
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.content import names


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
        return calls.PublishingKey(
            public_key=key.hex(), name=names.name_of(key), did=names.did_key_of(key), pending=False
        )

    async def publish(self, root_cid, sequence, validity, ttl_ns):
        record = sign_record(self.publishing, root_cid, sequence, validity, ttl_ns // 10**9)
        return calls.PublishedRecord(record=Octets(record), name=(await self.publishing_key()).name)

    async def publishing_delegation(self):
        return self.binding

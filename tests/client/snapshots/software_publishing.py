"""A vault whose publishing key lies in this process, so that a test can publish in another's name."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from holdfast.client.types import DelegationOptions
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.content import names, records


class SoftwarePublishing(AsyncVault):
    """As AsyncVault. `publishing` and `binding` are shared by the devices of one person."""

    publishing: Ed25519PrivateKey
    binding: bytes

    async def made(self, given, key):
        """A new vault with its binding."""
        await self.generate(given, key)
        self.publishing = Ed25519PrivateKey.generate()
        to = names.did_key_of(await self.publishing_key())
        options = DelegationOptions(to=to, command="/snapshots/publish")
        self.binding = (await self.mint_delegation(options)).signed_dag_cbor
        return self

    async def publishing_key(self):
        return self.publishing.public_key().public_bytes_raw()

    async def publish(self, root_cid, sequence, validity, ttl_s):
        return records.sign_record(self.publishing, root_cid, sequence, validity, ttl_s)

    async def publishing_delegation(self):
        return bytes(self.binding)

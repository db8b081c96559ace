"""The client's methods for what the service stores about a person (docs/privacy.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.client.http.calls import as_json, as_type
from holdfast.client.http.endpoint_calls import call_of
from holdfast.client.snapshots.tokens import service_token
from holdfast.client.types.service import AddressAdded, PersonRemoved
from holdfast.wire.commands import ADD, EXPORT, REMOVE
from holdfast.wire.endpoints import ADD_ADDRESS, EXPORT_PERSON, REMOVE_OF_PERSON

if TYPE_CHECKING:
    from holdfast.client.http.calls import Reader
    from holdfast.client.http.transport import HttpTransport
    from holdfast.client.types.service import Attestation
    from holdfast.client.vault.async_vault import AsyncVault
    from holdfast.wire.endpoints import Endpoint

T = TypeVar("T")


class PersonMethods:
    """Methods with which a person gets, or takes back, what the service stores.

    The open vault's key signs each request. Each method raises RequestRefused, NetworkError, or PluginCallError for a
    locked vault.
    """

    _http: HttpTransport
    _audience: str

    @property
    def vault(self) -> AsyncVault:
        """The vault."""
        raise NotImplementedError

    async def export_person(self) -> dict[str, object]:
        """Return all rows that the service stores about the vault's DID, by kind."""
        return await self._ask(EXPORT_PERSON, EXPORT, {}, as_json)

    async def take_back_passkey(self, credential_id: str) -> PersonRemoved:
        """Remove the registration of one passkey, which a look-up then does not find; the vault keeps the passkey.

        Without any registered passkey the DID keeps its identifier, and its snapshots are deleted after 30 days.
        """
        return await self._remove({"credentialId": credential_id})

    async def free_identifier(self, identifier: str, channel: str = "handle") -> PersonRemoved:
        """Free a handle, e-mail address or phone number of the DID, which anyone may then register.

        Args:
            identifier: as it was registered.
            channel: "handle", "email" or "sms".
        """
        return await self._remove({"identifier": identifier, "channel": channel})

    async def erase_person(self) -> PersonRemoved:
        """Delete all that the service stores about the vault's DID: registrations, credentials and snapshots.

        The vault on this device, and what is on the chain, stay.
        """
        return await self._remove({"everything": True})

    async def add_address(self, attestation: Attestation) -> AddressAdded:
        """Add an e-mail address or phone number to the DID, which then holds it; free_identifier gives it back.

        To change an address, add the new one and free the old one. The DID must be registered.

        Args:
            attestation: what check_code returned for the code that send_code sent there.
        """
        return await self._ask(ADD_ADDRESS, ADD, {"attestation": attestation.to_json()}, as_type(AddressAdded))

    async def _remove(self, args: dict[str, Any]) -> PersonRemoved:
        return await self._ask(REMOVE_OF_PERSON, REMOVE, args, as_type(PersonRemoved))

    async def _ask(self, endpoint: Endpoint[Any], command: str, args: dict[str, Any], read: Reader[T]) -> T:
        token = await service_token(self.vault, self._audience, command, args)
        # The service carries a token out once, and repeats its first response.
        call = replace(call_of(endpoint, read), headers={"Authorization": f"Bearer {token}"}, only_reads=True)
        return await self._http.send(call)

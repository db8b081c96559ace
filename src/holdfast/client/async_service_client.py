"""The asyncio face of the service's HTTP interface."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Self

from holdfast.client.blocking.service_client import DEFAULT_BASE_URL
from holdfast.client.http import endpoints
from holdfast.client.http.transport import DEFAULT_TIMEOUT_S, AsyncCarrier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx

    from holdfast.client.http.calls import Retries
    from holdfast.client.types import GetAccountStateInput, GetSmartAccountAddressInput, service
    from holdfast.wire.models import Attestation


class AsyncServiceClient:
    """Every endpoint of one service. Many calls may be under way at a time.

    Args:
        base_url: the service's address.
        timeout: seconds per step of a request (connect, send, wait, read), or an httpx.Timeout.
        retries: how often requests that change nothing are repeated; others never are.
        transport: how httpx reaches the network; tests put a stand-in here.
        headers: sent with every request.

    Every method raises RequestRefused (with `code` and `status`) where the service says no, NetworkError where no
    usable answer arrives, ClientStateError after `close`.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_BASE_URL,
        *,
        timeout: float | httpx.Timeout = DEFAULT_TIMEOUT_S,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._carrier = AsyncCarrier(base_url, timeout=timeout, retries=retries, transport=transport, headers=headers)
        self._request_ids = itertools.count(1)

    @property
    def base_url(self) -> str:
        """The service's address."""
        return self._carrier.base_url

    async def close(self) -> None:
        """Close the connections. Closing again is harmless."""
        await self._carrier.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def contracts(self) -> service.ContractSet:
        """The default contract set."""
        return await self._carrier.carry(endpoints.contracts())

    async def status(self) -> service.Status:
        """The chain that the service works on, and whether its database answers."""
        return await self._carrier.carry(endpoints.status())

    async def get_smart_account_address(
        self,
        pub_key_x: str | GetSmartAccountAddressInput,
        pub_key_y: str = "",
        salt: str | int = 0,
        *,
        vault_url: str | None = None,
    ) -> str:
        """The address that the account of a P-256 key (hex coordinates) has or will have.

        Args:
            pub_key_x: X coordinate in hex, or everything as the interface's input.
            pub_key_y: Y coordinate in hex.
            salt: decimal, hex or a number; another salt is another account of the same key.
            vault_url: another service to ask.
        """
        return await self._carrier.carry(endpoints.predict(pub_key_x, pub_key_y, salt, vault_url))

    async def get_account_state(
        self, account: str | GetAccountStateInput, *, vault_url: str | None = None
    ) -> service.AccountState:
        """The on-chain state of an account: a 20-byte address, or the interface's input."""
        return await self._carrier.carry(endpoints.account_state(account, vault_url))

    async def balance(self, account: str, token: str, chain_id: int) -> service.Balance:
        """The balance of an account in "ETH" or "USDC" on chain 84532 or 8453."""
        return await self._carrier.carry(endpoints.balance(account, token, chain_id))

    async def registration_counters(self) -> service.RegistrationCounters:
        """How many registrations came from this address, and in all."""
        return await self._carrier.carry(endpoints.registration_counters())

    async def lookup_did(self, credential_id: str) -> service.DidRecord | None:
        """The DID that a passkey is registered for, or None."""
        return await self._carrier.carry(endpoints.lookup_did(credential_id))

    async def check_alias(self, alias: str) -> service.AliasAvailability:
        """Whether an alias is free, and who holds it."""
        return await self._carrier.carry(endpoints.check_alias(alias))

    async def create_session(self, identifier: str, channel: str, did: str) -> service.SessionCreated:
        """Start the registration of an identifier ("handle", "email" or "sms") for a DID."""
        return await self._carrier.carry(endpoints.create_session(identifier, channel, did))

    async def check_session(self, identifier: str, channel: str = "handle") -> service.Availability:
        """Whether an identifier can be registered, and why not."""
        return await self._carrier.carry(endpoints.check_session(identifier, channel))

    async def send_code(self, identifier: str, channel: str) -> service.CodeSent:
        """Send a one-time code by "email" or "sms"."""
        return await self._carrier.carry(endpoints.send_code(identifier, channel))

    async def check_code(self, identifier: str, channel: str, code: str) -> service.CodeCheck:
        """Submit a code; the attestation is there when `verified` is true."""
        return await self._carrier.carry(endpoints.check_code(identifier, channel, code))

    async def verification_status(self, identifier: str, channel: str) -> service.VerificationStatus:
        """Whether an identifier has been verified."""
        return await self._carrier.carry(endpoints.verification_status(identifier, channel))

    async def register_did(  # noqa: PLR0913 - the interface has eight fields
        self,
        *,
        credential_id: str,
        identifier: str,
        channel: str,
        did: str,
        tx_hash: str,
        block_number: int | None = None,
        smart_account: str | None = None,
        attestation: Attestation | None = None,
    ) -> service.DidRegistered:
        """Register a DID; a channel other than "handle" needs the attestation of `check_code`."""
        fields = {
            "credentialId": credential_id,
            "identifier": identifier,
            "channel": channel,
            "did": did,
            "txHash": tx_hash,
            "blockNumber": block_number,
            "smartAccount": smart_account,
        }
        return await self._carrier.carry(endpoints.register_did(fields, attestation))

    async def bundler(self, method: str, params: Sequence[Any] = ()) -> Any:
        """Ask the bundler; the JSON-RPC result. Raises JsonRpcError for an error in the answer."""
        return await self._carrier.carry(endpoints.bundler(method, params, next(self._request_ids)))

    async def indexer_did(self, did_hash: str) -> service.IndexerDid:
        """A DID as the indexer knows it."""
        return await self._carrier.carry(endpoints.indexer_did(did_hash))

    async def indexer_alias(self, alias_hash: str) -> service.IndexerAlias:
        """An alias as the indexer knows it."""
        return await self._carrier.carry(endpoints.indexer_alias(alias_hash))

    async def indexer_account(self, address: str) -> service.IndexerAccount:
        """An account as the indexer knows it."""
        return await self._carrier.carry(endpoints.indexer_account(address))

    async def indexer_accounts(self, query: Mapping[str, str] | None = None) -> Any:
        """Accounts by `owner`, `key_owner` and other parameters of the indexer, in its own form."""
        return await self._carrier.carry(endpoints.indexer_accounts(query or {}))

    async def indexer_stats(self) -> service.IndexerStats:
        """What the indexer has counted."""
        return await self._carrier.carry(endpoints.indexer_stats())

    async def indexer_events(self, query: Mapping[str, str] | None = None) -> Any:
        """The indexer's events, in its own form."""
        return await self._carrier.carry(endpoints.indexer_events(query or {}))

    async def indexer_health(self) -> service.IndexerHealth:
        """Whether the indexer works, and on which chain."""
        return await self._carrier.carry(endpoints.indexer_health())

    async def workflow(self) -> Any:
        """What the workflow engine's handler says of itself. Raises WorkflowNotConfigured where there is no engine."""
        return await self._carrier.carry(endpoints.workflow())

    async def register_workflow(self, body: Mapping[str, Any] | None = None) -> Any:
        """Let the service register its functions with the engine. Raises WorkflowNotConfigured, as `workflow` does.

        Signatures are the engine's to make: a service with a signing key refuses calls whose headers carry none.
        """
        return await self._carrier.carry(endpoints.register_workflow(body or {}))

    async def run_workflow(self, query: Mapping[str, str], body: Mapping[str, Any]) -> Any:
        """Call a function as the engine does: `query` names it (fnId, stepId), `body` is the engine's call.

        Raises WorkflowNotConfigured, and RequestRefused with the engine's status for a call that is not signed.
        """
        return await self._carrier.carry(endpoints.run_workflow(query, body))

    async def enclave_wasm(self) -> bytes:
        """The enclave module as the service serves it, not verified: `holdfast.client.enclave_module` does that."""
        return await self._carrier.carry(endpoints.enclave_wasm())

    async def payment_worker(self) -> str:
        """The payment service worker's JavaScript."""
        return await self._carrier.carry(endpoints.payment_worker())

    async def payment_page(self) -> str:
        """The payment confirmation page's HTML."""
        return await self._carrier.carry(endpoints.payment_page())

    async def payment_manifest(self) -> Any:
        """The payment handler's web app manifest."""
        return await self._carrier.carry(endpoints.payment_manifest())

    async def payment_method(self) -> Any:
        """The payment method manifest."""
        return await self._carrier.carry(endpoints.payment_method())

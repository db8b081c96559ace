"""The blocking face of the service's HTTP interface."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Self

from holdfast.client.http import endpoints
from holdfast.client.http.transport import DEFAULT_TIMEOUT_S, Carrier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx

    from holdfast.client.http.calls import Retries
    from holdfast.client.types import GetAccountStateInput, GetSmartAccountAddressInput, service
    from holdfast.wire.models import Attestation

DEFAULT_BASE_URL = "http://localhost:8787"


class ServiceClient:
    """Every endpoint of one service. Safe to use from several threads.

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
        transport: httpx.BaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._carrier = Carrier(base_url, timeout=timeout, retries=retries, transport=transport, headers=headers)
        self._request_ids = itertools.count(1)

    @property
    def base_url(self) -> str:
        """The service's address."""
        return self._carrier.base_url

    def close(self) -> None:
        """Close the connections. Closing again is harmless."""
        self._carrier.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def contracts(self) -> service.ContractSet:
        """The default contract set."""
        return self._carrier.carry(endpoints.contracts())

    def status(self) -> service.Status:
        """The chain that the service works on, and whether its database answers."""
        return self._carrier.carry(endpoints.status())

    def get_smart_account_address(
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
        return self._carrier.carry(endpoints.predict(pub_key_x, pub_key_y, salt, vault_url))

    def get_account_state(
        self, account: str | GetAccountStateInput, *, vault_url: str | None = None
    ) -> service.AccountState:
        """The on-chain state of an account: a 20-byte address, or the interface's input."""
        return self._carrier.carry(endpoints.account_state(account, vault_url))

    def balance(self, account: str, token: str, chain_id: int) -> service.Balance:
        """The balance of an account in "ETH" or "USDC" on chain 84532 or 8453."""
        return self._carrier.carry(endpoints.balance(account, token, chain_id))

    def registration_counters(self) -> service.RegistrationCounters:
        """How many registrations came from this address, and in all."""
        return self._carrier.carry(endpoints.registration_counters())

    def lookup_did(self, credential_id: str) -> service.DidRecord | None:
        """The DID that a passkey is registered for, or None."""
        return self._carrier.carry(endpoints.lookup_did(credential_id))

    def check_alias(self, alias: str) -> service.AliasAvailability:
        """Whether an alias is free, and who holds it."""
        return self._carrier.carry(endpoints.check_alias(alias))

    def create_session(self, identifier: str, channel: str, did: str) -> service.SessionCreated:
        """Start the registration of an identifier ("handle", "email" or "sms") for a DID."""
        return self._carrier.carry(endpoints.create_session(identifier, channel, did))

    def check_session(self, identifier: str, channel: str = "handle") -> service.Availability:
        """Whether an identifier can be registered, and why not."""
        return self._carrier.carry(endpoints.check_session(identifier, channel))

    def send_code(self, identifier: str, channel: str) -> service.CodeSent:
        """Send a one-time code by "email" or "sms"."""
        return self._carrier.carry(endpoints.send_code(identifier, channel))

    def check_code(self, identifier: str, channel: str, code: str) -> service.CodeCheck:
        """Submit a code; the attestation is there when `verified` is true."""
        return self._carrier.carry(endpoints.check_code(identifier, channel, code))

    def verification_status(self, identifier: str, channel: str) -> service.VerificationStatus:
        """Whether an identifier has been verified."""
        return self._carrier.carry(endpoints.verification_status(identifier, channel))

    def register_did(  # noqa: PLR0913 - the interface has eight fields
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
        return self._carrier.carry(endpoints.register_did(fields, attestation))

    def bundler(self, method: str, params: Sequence[Any] = ()) -> Any:
        """Ask the bundler; the JSON-RPC result. Raises JsonRpcError for an error in the answer."""
        return self._carrier.carry(endpoints.bundler(method, params, next(self._request_ids)))

    def indexer_did(self, did_hash: str) -> service.IndexerDid:
        """A DID as the indexer knows it."""
        return self._carrier.carry(endpoints.indexer_did(did_hash))

    def indexer_alias(self, alias_hash: str) -> service.IndexerAlias:
        """An alias as the indexer knows it."""
        return self._carrier.carry(endpoints.indexer_alias(alias_hash))

    def indexer_account(self, address: str) -> service.IndexerAccount:
        """An account as the indexer knows it."""
        return self._carrier.carry(endpoints.indexer_account(address))

    def indexer_accounts(self, query: Mapping[str, str] | None = None) -> Any:
        """Accounts by `owner`, `key_owner` and other parameters of the indexer, in its own form."""
        return self._carrier.carry(endpoints.indexer_accounts(query or {}))

    def indexer_stats(self) -> service.IndexerStats:
        """What the indexer has counted."""
        return self._carrier.carry(endpoints.indexer_stats())

    def indexer_events(self, query: Mapping[str, str] | None = None) -> Any:
        """The indexer's events, in its own form."""
        return self._carrier.carry(endpoints.indexer_events(query or {}))

    def indexer_health(self) -> service.IndexerHealth:
        """Whether the indexer works, and on which chain."""
        return self._carrier.carry(endpoints.indexer_health())

    def workflow(self) -> Any:
        """What the workflow engine's handler says of itself. Raises WorkflowNotConfigured where there is no engine."""
        return self._carrier.carry(endpoints.workflow())

    def register_workflow(self, body: Mapping[str, Any] | None = None) -> Any:
        """Let the service register its functions with the engine. Raises WorkflowNotConfigured, as `workflow` does.

        Signatures are the engine's to make: a service with a signing key refuses calls whose headers carry none.
        """
        return self._carrier.carry(endpoints.register_workflow(body or {}))

    def run_workflow(self, query: Mapping[str, str], body: Mapping[str, Any]) -> Any:
        """Call a function as the engine does: `query` names it (fnId, stepId), `body` is the engine's call.

        Raises WorkflowNotConfigured, and RequestRefused with the engine's status for a call that is not signed.
        """
        return self._carrier.carry(endpoints.run_workflow(query, body))

    def enclave_wasm(self) -> bytes:
        """The enclave module as the service serves it, not verified: `holdfast.client.enclave_module` does that."""
        return self._carrier.carry(endpoints.enclave_wasm())

    def payment_worker(self) -> str:
        """The payment service worker's JavaScript."""
        return self._carrier.carry(endpoints.payment_worker())

    def payment_page(self) -> str:
        """The payment confirmation page's HTML."""
        return self._carrier.carry(endpoints.payment_page())

    def payment_manifest(self) -> Any:
        """The payment handler's web app manifest."""
        return self._carrier.carry(endpoints.payment_manifest())

    def payment_method(self) -> Any:
        """The payment method manifest."""
        return self._carrier.carry(endpoints.payment_method())

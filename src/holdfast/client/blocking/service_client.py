"""`ServiceClient`, the blocking form of `AsyncServiceClient`.

Written by `tools/blocking_client.py` from `holdfast/client/endpoint_methods.py` and `holdfast/client/async_service_client.py`;
not edited by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from holdfast.client.async_service_client import AsyncServiceClient
from holdfast.client.blocking.loop import run
from holdfast.client.http.transport import DEFAULT_TIMEOUT
from holdfast.wire.defaults import SERVICE_URL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx2

    from holdfast.client.http.calls import Retries
    from holdfast.client.types import GetAccountStateInput, GetSmartAccountAddressInput, service
    from holdfast.wire.models import Attestation


class ServiceClient:
    """A client for the endpoints of one service that programs call. Calls may run concurrently.

    Args:
        base_url: the service's address.
        timeout: seconds per step of a request (connect, send, wait, read), or an httpx2.Timeout.
        retries: how often a failed request is repeated; see Retries.
        transport: the httpx2 transport; tests pass a stand-in.
        headers: sent with each request.

    Each method raises RequestRefused (with `code` and `status`) if the service refuses, NetworkError if no
    usable response arrives, and ClientStateError after `close`.

    Safe to use from several threads, and where an event loop runs. Callbacks run in the calling thread.
    """

    _asynchronous: AsyncServiceClient

    def enclave_wasm(self) -> bytes:
        """The enclave, a WebAssembly module: GET /enclave.wasm."""
        return run(self._asynchronous.enclave_wasm())

    def contracts(self) -> service.ContractSet:
        """The default contract set: GET /api/contracts."""
        return run(self._asynchronous.contracts())

    def status(self) -> service.Status:
        """Chain and database: GET /api/status."""
        return run(self._asynchronous.status())

    def chains(self) -> service.ServedChains:
        """The chains that the service serves, with their endpoints: GET /api/chains."""
        return run(self._asynchronous.chains())

    def registration_counters(self) -> service.RegistrationCounters:
        """Registration counters: GET /api/sessions/status."""
        return run(self._asynchronous.registration_counters())

    def lookup_did(self, credential_id: str) -> service.DidRecord | None:
        """The DID that a credential leads to: GET /api/dids/lookup.

        Raises:
            InvalidRequest: status 400
        """
        return run(self._asynchronous.lookup_did(credential_id))

    def check_alias(self, alias: str) -> service.AliasAvailability:
        """Whether an alias is free: GET /api/aliases/check.

        Raises:
            InvalidRequest: status 400
        """
        return run(self._asynchronous.check_alias(alias))

    def create_session(self, identifier: str, channel: str, did: str) -> service.SessionCreated:
        """Open a registration session: POST /api/sessions.

        Raises:
            InvalidRequest: status 400
            IdentifierReserved: status 409
            IdentifierTaken: status 409
            RegistrationClosed: status 403
            InvitationRequired: status 403
            InvitationInvalid: status 403
            IpLimitReached: status 429
            IdempotencyKeyInUse: status 409
            IdempotencyKeyReused: status 422
            RateLimited: status 429
        """
        return run(self._asynchronous.create_session(identifier, channel, did))

    def check_session(self, identifier: str, channel: str = "handle") -> service.Availability:
        """Whether an identifier is free: GET /api/sessions/check.

        Raises:
            InvalidRequest: status 400
        """
        return run(self._asynchronous.check_session(identifier, channel))

    def send_code(self, identifier: str, channel: str) -> service.CodeSent:
        """Send a one-time code: POST /api/verify/send.

        Raises:
            InvalidRequest: status 400
            RateLimited: status 429
            SmsSendFailed: status 502
            EmailSendFailed: status 502
            IdempotencyKeyInUse: status 409
            IdempotencyKeyReused: status 422
        """
        return run(self._asynchronous.send_code(identifier, channel))

    def check_code(self, identifier: str, channel: str, code: str) -> service.CodeCheck:
        """Check a one-time code: POST /api/verify/check.

        Raises:
            InvalidRequest: status 400
            RateLimited: status 429
            SmsCheckFailed: status 502
            IdempotencyKeyInUse: status 409
            IdempotencyKeyReused: status 422
        """
        return run(self._asynchronous.check_code(identifier, channel, code))

    def verification_status(self, identifier: str, channel: str) -> service.VerificationStatus:
        """Whether an identifier was verified: GET /api/verify/status.

        Raises:
            InvalidRequest: status 400
        """
        return run(self._asynchronous.verification_status(identifier, channel))

    def recovery_terms(self) -> service.RecoveryTerms:
        """The service's key as a guardian of accounts, and when it signs: GET /api/recovery."""
        return run(self._asynchronous.recovery_terms())

    def ask_recovery(
        self, identifier: str, channel: str, new_owners: list[str], account: str | None = None
    ) -> service.RecoveryCodeSent:
        """Ask the service to sign a recovery: it sends a code to an address of the DID: POST /api/recovery/send.

        Raises:
            InvalidRequest: status 400
            RecoveryNotPossible: status 409
            GuardianNotConfigured: status 503
            RateLimited: status 429
            SmsSendFailed: status 502
            EmailSendFailed: status 502
            ChainUnreachable: status 502
        """
        return run(self._asynchronous.ask_recovery(identifier, channel, new_owners, account))

    def check_recovery(self, request: str, code: str) -> service.RecoveryCheck:
        """Check the code of a recovery; the waiting time then begins: POST /api/recovery/check.

        Raises:
            InvalidRequest: status 400
            GuardianNotConfigured: status 503
            RateLimited: status 429
        """
        return run(self._asynchronous.check_recovery(request, code))

    def sign_recovery(self, account: str, new_owners: list[str]) -> service.RecoverySigned:
        """The service's signature under a recovery, after the waiting time: POST /api/recovery/sign.

        Raises:
            InvalidRequest: status 400
            RecoveryNotFound: status 404
            RecoveryWaits: status 409
            RecoveryNotPossible: status 409
            GuardianNotConfigured: status 503
            RateLimited: status 429
            ChainUnreachable: status 502
        """
        return run(self._asynchronous.sign_recovery(account, new_owners))

    def stop_recovery(self, request: str) -> service.RecoveryStopped:
        """Stop the service's help with a recovery, by the request's number from the mail: POST /api/recovery/stop.

        Raises:
            InvalidRequest: status 400
            GuardianNotConfigured: status 503
            RateLimited: status 429
        """
        return run(self._asynchronous.stop_recovery(request))

    def readyz(self) -> Any:
        """The store reads and writes: GET /readyz."""
        return run(self._asynchronous.readyz())

    def __init__(
        self,
        base_url: str = SERVICE_URL,
        *,
        timeout: float | httpx2.Timeout = DEFAULT_TIMEOUT,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._asynchronous = AsyncServiceClient(
            base_url, timeout=timeout, retries=retries, transport=transport, headers=headers
        )

    @property
    def base_url(self) -> str:
        """The service's address."""
        return self._asynchronous.base_url

    def close(self) -> None:
        """Close the connections. Repeated calls have no effect."""
        run(self._asynchronous.close())

    def __enter__(self) -> Self:
        run(self._asynchronous.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        run(self._asynchronous.__aexit__(*_))

    def get_smart_account_address(
        self,
        pub_key_x: str | GetSmartAccountAddressInput,
        pub_key_y: str = "",
        salt: str | int = 0,
        *,
        vault_url: str | None = None,
    ) -> str:
        """Return the address of the smart account for a P-256 key (coordinates in hex), even before it is deployed.

        This is the service's answer. `Client.smart_account_address` computes the address of the vault's own account.

        Args:
            pub_key_x: X coordinate in hex, or both coordinates as the interface's input type.
            pub_key_y: Y coordinate in hex.
            salt: decimal, hex or an int; the same key has a different account for each salt.
            vault_url: another service to send the request to.

        Raises:
            ValueError: the coordinates are not a point of P-256. No account can ever be created for them, and what is
                sent to such an address is lost.
        """
        return run(self._asynchronous.get_smart_account_address(pub_key_x, pub_key_y, salt, vault_url=vault_url))

    def get_account_state(
        self, account: str | GetAccountStateInput, *, vault_url: str | None = None
    ) -> service.AccountState:
        """Return the on-chain state of an account, given as a 20-byte address or as the interface's input type."""
        return run(self._asynchronous.get_account_state(account, vault_url=vault_url))

    def account_state_on(self, chain_id: int, account: str) -> service.AccountState:
        """Return the state of an account on any chain of `chains`."""
        return run(self._asynchronous.account_state_on(chain_id, account))

    def balance(self, account: str, token: str, chain_id: int) -> service.Balance:
        """Return an account's balance of the token "ETH" or "USDC" on any chain of `chains`, such as 84532 or 8453."""
        return run(self._asynchronous.balance(account, token, chain_id))

    def register_did(
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
        token: str | None = None,
    ) -> service.DidRegistered:
        """Register a DID. Channels other than "handle" need the attestation that `check_code` returned.

        With a `token` signed by the DID's key, credentials that strangers added cannot prevent the registration
        (docs/http.md).
        """
        return run(
            self._asynchronous.register_did(
                credential_id=credential_id,
                identifier=identifier,
                channel=channel,
                did=did,
                tx_hash=tx_hash,
                block_number=block_number,
                smart_account=smart_account,
                attestation=attestation,
                token=token,
            )
        )

    def bundler(self, method: str, params: Sequence[object] = ()) -> Any:
        """Send a JSON-RPC request to the bundler and return its result. Raises JsonRpcError for an error response."""
        return run(self._asynchronous.bundler(method, params))

    def indexer_did(self, did_hash: str) -> service.IndexerDid:
        """Return the indexer's record of a DID."""
        return run(self._asynchronous.indexer_did(did_hash))

    def indexer_alias(self, alias_hash: str) -> service.IndexerAlias:
        """Return the indexer's record of an alias."""
        return run(self._asynchronous.indexer_alias(alias_hash))

    def indexer_account(self, address: str) -> service.IndexerAccount:
        """Return the indexer's record of an account."""
        return run(self._asynchronous.indexer_account(address))

    def indexer_accounts(self, query: Mapping[str, str] | None = None) -> service.IndexerAccounts:
        """Return the indexer's accounts, filtered by `owner`, `key_owner` and other query parameters."""
        return run(self._asynchronous.indexer_accounts(query))

    def indexer_stats(self) -> service.IndexerStats:
        """Return the indexer's counters."""
        return run(self._asynchronous.indexer_stats())

    def indexer_events(self, query: Mapping[str, str] | None = None) -> service.IndexerEvents:
        """Return the indexer's events."""
        return run(self._asynchronous.indexer_events(query))

    def indexer_health(self) -> service.IndexerHealth:
        """Return whether the indexer is healthy, and which chain it follows."""
        return run(self._asynchronous.indexer_health())

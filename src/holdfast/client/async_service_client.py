"""Every endpoint of one service, for asyncio. The blocking client is generated from it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote

from holdfast.client.endpoint_methods import EndpointMethods
from holdfast.client.http.calls import Call, Reader, as_bytes, as_json, as_type
from holdfast.client.http.endpoint_calls import call_of
from holdfast.client.http.json_rpc import read_json_rpc
from holdfast.client.http.transport import DEFAULT_TIMEOUT_S, HttpTransport
from holdfast.client.types import GetAccountStateInput, GetSmartAccountAddressInput, service
from holdfast.wire import endpoints, requests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx

    from holdfast.client.http.calls import Retries
    from holdfast.wire.models import Attestation

T = TypeVar("T")

DEFAULT_BASE_URL = "http://localhost:8787"


class AsyncServiceClient(EndpointMethods):
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
        self._http = HttpTransport(base_url, timeout=timeout, retries=retries, transport=transport, headers=headers)
        self._request_ids = itertools.count(1)

    @property
    def base_url(self) -> str:
        """The service's address."""
        return self._http.base_url

    async def close(self) -> None:
        """Close the connections. Closing again is harmless."""
        await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

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
        if isinstance(pub_key_x, GetSmartAccountAddressInput):
            key = pub_key_x
            return await self.get_smart_account_address(
                key.pub_key_x, key.pub_key_y, key.salt, vault_url=vault_url or key.vault_url
            )
        asked = requests.PredictAddress(pub_key_x=pub_key_x, pub_key_y=pub_key_y, salt=str(salt))
        read = as_type(service.PredictedAddress)
        return (await self._call(endpoints.PREDICT_ADDRESS, read, asked, base_url=vault_url)).address

    async def get_account_state(
        self, account: str | GetAccountStateInput, *, vault_url: str | None = None
    ) -> service.AccountState:
        """The on-chain state of an account: a 20-byte address, or the interface's input."""
        if isinstance(account, GetAccountStateInput):
            return await self.get_account_state(account.account, vault_url=vault_url or account.vault_url)
        asked = requests.ReadAccount(account=account)
        return await self._call(endpoints.ACCOUNT_STATE, as_type(service.AccountState), asked, base_url=vault_url)

    async def balance(self, account: str, token: str, chain_id: int) -> service.Balance:
        """The balance of an account in "ETH" or "USDC" on chain 84532 or 8453."""
        asked = requests.ReadBalance(account=account, token=token, chain_id=str(chain_id))
        return await self._call(endpoints.BALANCE, as_type(service.Balance), asked)

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
        asked = requests.RegisterDid(
            credential_id=credential_id,
            identifier=identifier,
            channel=channel,
            did=did,
            tx_hash=tx_hash,
            block_number=block_number,
            smart_account=smart_account,
            attestation=attestation,
        )
        return await self._call(endpoints.REGISTER_DID, as_type(service.DidRegistered), asked)

    async def bundler(self, method: str, params: Sequence[Any] = ()) -> Any:
        """Ask the bundler; the JSON-RPC result. Raises JsonRpcError for an error in the answer."""
        number = next(self._request_ids)
        asked = requests.CallBundler(id=number, method=method, params=list(params))
        return await self._call(endpoints.BUNDLER, lambda reply: read_json_rpc(reply, number), asked)

    async def indexer_did(self, did_hash: str) -> service.IndexerDid:
        """A DID as the indexer knows it."""
        return await self._indexed("dids", as_type(service.IndexerDid), did_hash)

    async def indexer_alias(self, alias_hash: str) -> service.IndexerAlias:
        """An alias as the indexer knows it."""
        return await self._indexed("aliases", as_type(service.IndexerAlias), alias_hash)

    async def indexer_account(self, address: str) -> service.IndexerAccount:
        """An account as the indexer knows it."""
        return await self._indexed("accounts", as_type(service.IndexerAccount), address)

    async def indexer_accounts(self, query: Mapping[str, str] | None = None) -> Any:
        """Accounts by `owner`, `key_owner` and other parameters of the indexer, in its own form."""
        return await self._indexed("accounts", as_json, query=query)

    async def indexer_stats(self) -> service.IndexerStats:
        """What the indexer has counted."""
        return await self._indexed("stats", as_type(service.IndexerStats))

    async def indexer_events(self, query: Mapping[str, str] | None = None) -> Any:
        """The indexer's events, in its own form."""
        return await self._indexed("events", as_json, query=query)

    async def indexer_health(self) -> service.IndexerHealth:
        """Whether the indexer works, and on which chain."""
        return await self._http.send(_below(call_of(endpoints.INDEXER, as_type(service.IndexerHealth)), "health"))

    async def client_file(self, path: str) -> bytes:
        """A module of the JavaScript client, such as `holdfast.js`."""
        return await self._http.send(_below(call_of(endpoints.CLIENT_FILE, as_bytes), path))

    async def register_workflow(self, body: Mapping[str, Any] | None = None) -> Any:
        """Let the service register its functions with the engine. Raises WorkflowNotConfigured, as `workflow` does.

        Signatures are the engine's to make: a service with a signing key refuses calls whose headers carry none.
        """
        return await self._http.send(replace(call_of(endpoints.WORKFLOW_REGISTER, as_json), body=body or {}))

    async def run_workflow(self, query: Mapping[str, str], body: Mapping[str, Any]) -> Any:
        """Call a function as the engine does: `query` names it (fnId, stepId), `body` is the engine's call.

        Raises WorkflowNotConfigured, and RequestRefused with the engine's status for a call that is not signed.
        """
        return await self._http.send(replace(call_of(endpoints.WORKFLOW_RUN, as_json), query=query, body=body))

    async def _indexed(
        self, kind: str, read: Reader[T], key: str | None = None, *, query: Mapping[str, str] | None = None
    ) -> T:
        path = f"api/{kind}" if key is None else f"api/{kind}/{quote(key, safe='')}"
        return await self._http.send(replace(_below(call_of(endpoints.INDEXER, read), path), query=query or {}))


def _below(call: Call[T], path: str) -> Call[T]:
    """The call of an endpoint whose path ends with `{path}`."""
    return replace(call, path=call.path.replace("{path}", path))

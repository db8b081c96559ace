"""All endpoints of one service that programs call, for asyncio. The blocking client is generated from this class."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote

from holdfast.client.endpoint_methods import EndpointMethods
from holdfast.client.http.calls import Call, Reader, as_json, as_type
from holdfast.client.http.endpoint_calls import call_of
from holdfast.client.http.json_rpc import read_json_rpc
from holdfast.client.http.transport import DEFAULT_TIMEOUT, HttpTransport
from holdfast.client.types import GetAccountStateInput, GetSmartAccountAddressInput, service
from holdfast.wire import endpoints, requests
from holdfast.wire.defaults import SERVICE_URL
from holdfast.wire.json_rpc import CHARGED
from holdfast.wire.p256 import on_curve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx2

    from holdfast.client.http.calls import Retries
    from holdfast.wire.endpoints import Endpoint
    from holdfast.wire.models import Attestation

T = TypeVar("T")

_COORDINATE = re.compile(r"(?:0[xX])?[0-9a-fA-F]{1,64}")


class AsyncServiceClient(EndpointMethods):
    """A client for the endpoints of one service that programs call. Calls may run concurrently.

    Args:
        base_url: the service's address.
        timeout: seconds per step of a request (connect, send, wait, read), or an httpx2.Timeout.
        retries: how often a failed request is repeated; see Retries.
        transport: the httpx2 transport; tests pass a stand-in.
        headers: sent with each request.

    Each method raises RequestRefused (with `code` and `status`) if the service refuses, NetworkError if no
    usable response arrives, and ClientStateError after `close`.
    """

    def __init__(
        self,
        base_url: str = SERVICE_URL,
        *,
        timeout: float | httpx2.Timeout = DEFAULT_TIMEOUT,
        retries: Retries | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._http = HttpTransport(base_url, timeout=timeout, retries=retries, transport=transport, headers=headers)
        self._request_ids = itertools.count(1)

    @property
    def base_url(self) -> str:
        """The service's address."""
        return self._http.base_url

    async def close(self) -> None:
        """Close the connections. Repeated calls have no effect."""
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
        if isinstance(pub_key_x, GetSmartAccountAddressInput):
            key = pub_key_x
            return await self.get_smart_account_address(
                key.pub_key_x, key.pub_key_y, key.salt, vault_url=vault_url or key.vault_url
            )
        if _is_hex(pub_key_x, pub_key_y) and not on_curve(int(pub_key_x, 16), int(pub_key_y, 16)):
            raise ValueError("pub_key_x and pub_key_y are not a point of P-256")
        given = requests.PredictAddress(pub_key_x=pub_key_x, pub_key_y=pub_key_y, salt=str(salt))
        read = as_type(service.PredictedAddress)
        return (await self._call(endpoints.PREDICT_ADDRESS, read, given, base_url=vault_url)).address

    async def get_account_state(
        self, account: str | GetAccountStateInput, *, vault_url: str | None = None
    ) -> service.AccountState:
        """Return the on-chain state of an account, given as a 20-byte address or as the interface's input type."""
        if isinstance(account, GetAccountStateInput):
            return await self.get_account_state(account.account, vault_url=vault_url or account.vault_url)
        given = requests.ReadAccount(account=account)
        return await self._call(endpoints.ACCOUNT_STATE, as_type(service.AccountState), given, base_url=vault_url)

    async def account_state_on(self, chain_id: int, account: str) -> service.AccountState:
        """Return the state of an account on any chain of `chains`."""
        given, path = requests.ReadAccount(account=account), {"chain_id": str(chain_id)}
        return await self._call(endpoints.STATE_ON_CHAIN, as_type(service.AccountState), given, path=path)

    async def balance(self, account: str, token: str, chain_id: int) -> service.Balance:
        """Return an account's balance of the token "ETH" or "USDC" on any chain of `chains`, such as 84532 or 8453."""
        given = requests.ReadBalance(account=account, token=token, chain_id=str(chain_id))
        return await self._call(endpoints.BALANCE, as_type(service.Balance), given)

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
        token: str | None = None,
    ) -> service.DidRegistered:
        """Register a DID. Channels other than "handle" need the attestation that `check_code` returned.

        With a `token` signed by the DID's key, credentials that strangers added cannot prevent the registration
        (docs/http.md).
        """
        given = requests.RegisterDid(
            credential_id=credential_id,
            identifier=identifier,
            channel=channel,
            did=did,
            tx_hash=tx_hash,
            block_number=block_number,
            smart_account=smart_account,
            attestation=attestation,
        )
        call = call_of(endpoints.REGISTER_DID, as_type(service.DidRegistered), given)
        return await self._http.send(replace(call, headers={"Authorization": f"Bearer {token}"} if token else {}))

    async def bundler(self, method: str, params: Sequence[object] = ()) -> Any:
        """Send a JSON-RPC request to the bundler and return its result. Raises JsonRpcError for an error response."""
        number = next(self._request_ids)
        call = call_of(endpoints.BUNDLER, as_json)
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}
        sent = replace(call, body=body, named=method in CHARGED, only_reads=method not in CHARGED)
        return read_json_rpc(await self._http.send(sent), number)

    async def indexer_did(self, did_hash: str) -> service.IndexerDid:
        """Return the indexer's record of a DID."""
        return await self._indexed("dids", as_type(service.IndexerDid), did_hash)

    async def indexer_alias(self, alias_hash: str) -> service.IndexerAlias:
        """Return the indexer's record of an alias."""
        return await self._indexed("aliases", as_type(service.IndexerAlias), alias_hash)

    async def indexer_account(self, address: str) -> service.IndexerAccount:
        """Return the indexer's record of an account."""
        return await self._indexed("accounts", as_type(service.IndexerAccount), address)

    async def indexer_accounts(self, query: Mapping[str, str] | None = None) -> service.IndexerAccounts:
        """Return the indexer's accounts, filtered by `owner`, `key_owner` and other query parameters."""
        return await self._indexed("accounts", as_type(service.IndexerAccounts), query=query)

    async def indexer_stats(self) -> service.IndexerStats:
        """Return the indexer's counters."""
        return await self._indexed("stats", as_type(service.IndexerStats))

    async def indexer_events(self, query: Mapping[str, str] | None = None) -> service.IndexerEvents:
        """Return the indexer's events."""
        return await self._indexed("events", as_type(service.IndexerEvents), query=query)

    async def indexer_health(self) -> service.IndexerHealth:
        """Return whether the indexer is healthy, and which chain it follows."""
        return await self._http.send(_below(endpoints.INDEXER, "health", as_type(service.IndexerHealth)))

    async def _indexed(
        self, kind: str, read: Reader[T], key: str | None = None, *, query: Mapping[str, str] | None = None
    ) -> T:
        path = f"api/{kind}" if key is None else f"api/{kind}/{quote(key, safe='')}"
        return await self._http.send(replace(_below(endpoints.INDEXER, path, read), query=query or {}))


def _below(declared: Endpoint[requests.Input], path: str, read: Reader[T]) -> Call[T]:
    """Return the call to an endpoint whose path template ends in `{path}`, with `path` in its place.

    `path` must already be percent-encoded.
    """
    return Call(method=declared.method, path=declared.path.replace("{path}", path), read=read)


def _is_hex(*coordinates: str) -> bool:
    # The service refuses what is not hex, with its own message.
    return all(_COORDINATE.fullmatch(it) for it in coordinates)

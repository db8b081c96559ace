"""Sends JSON-RPC over the client's HTTP connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from holdfast.chain.errors import TransportError
from holdfast.client.http.calls import Call, as_bytes, refusal
from holdfast.client.http.refusals import RequestRefused
from holdfast.wire.client_errors import NetworkError
from holdfast.wire.endpoints import BUNDLER
from holdfast.wire.json_rpc import CHARGED

if TYPE_CHECKING:
    from holdfast.client.http.transport import HttpTransport

_OK = range(200, 300)
_JSON = {"Content-Type": "application/json"}


class _Request(msgspec.Struct):
    method: str


class ChainTransport:
    """A holdfast.chain Transport that reuses the connections of an existing service client.

    Calls to the service's bundlers that count towards a limit (`holdfast.wire.json_rpc.CHARGED`) carry an
    `Idempotency-Key`. If the response to a call with a key is lost, the call is repeated once, and the service sends
    the first response again.
    """

    def __init__(self, transport: HttpTransport) -> None:
        self._transport = transport

    @property
    def base_url(self) -> str:
        """The service's address."""
        return self._transport.base_url

    async def post(self, url: str, body: bytes) -> bytes:
        """See holdfast.chain.transports.Transport.

        If the service itself refused the request, the error's cause is that refusal.
        """
        try:
            path = url.removeprefix(self.base_url)
            if f"{path}/".startswith(f"{BUNDLER.path}/") and _is_charged(body):
                return await self._transport.send(_named(path, body))
            reply = await self._transport.post(url, body)
        except RequestRefused as error:
            raise TransportError(f"HTTP status {error.status}", error.status) from error
        except NetworkError as error:
            raise TransportError(str(error)) from error
        if reply.status not in _OK:
            own = url.startswith(f"{self.base_url}/")
            raise TransportError(f"HTTP status {reply.status}", reply.status) from (refusal(reply) if own else None)
        return reply.content


def _is_charged(body: bytes) -> bool:
    """Return whether the payload is a single call, not a batch, of a method that counts towards a limit."""
    try:
        return msgspec.json.decode(body, type=_Request).method in CHARGED
    except msgspec.DecodeError:
        return False


def _named(path: str, body: bytes) -> Call[bytes]:
    return Call(method="POST", path=path, read=as_bytes, content=body, headers=_JSON, named=True)

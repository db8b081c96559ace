"""Sends JSON-RPC over the client's HTTP connections."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from holdfast.chain.errors import TransportError
from holdfast.chain.jsonrpc import is_read
from holdfast.client.http.calls import Call, as_json
from holdfast.client.http.refusals import RequestRefused
from holdfast.wire.client_errors import NetworkError
from holdfast.wire.endpoints import BUNDLER
from holdfast.wire.json_rpc import CHARGED
from holdfast.wire.retries import SUCCESS

if TYPE_CHECKING:
    from holdfast.client.http.calls import Reply
    from holdfast.client.http.transport import HttpTransport

_JSON = {"Content-Type": "application/json"}


class _Request(msgspec.Struct):
    method: str


class ChainTransport:
    """A holdfast.chain Transport that reuses the connections of an existing service client.

    Requests to the service itself are repeated by the rule for its other endpoints (`holdfast.wire.retries`). Calls to
    its bundlers that count towards a limit (`holdfast.wire.json_rpc.CHARGED`) carry an `Idempotency-Key`: if the
    response is lost, the service sends the first response again.
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
            if url.startswith(f"{self.base_url}/"):
                return await self._transport.send(_call(url.removeprefix(self.base_url), body))
            reply = await self._transport.post(url, body)
        except RequestRefused as error:
            raise TransportError(f"HTTP status {error.status}", error.status) from error
        except NetworkError as error:
            raise TransportError(str(error).removeprefix("Network: ")) from error
        if reply.status not in SUCCESS:
            raise TransportError(f"HTTP status {reply.status}", reply.status)
        return reply.content


def _call(path: str, body: bytes) -> Call[bytes]:
    method = _method_of(body)
    named = f"{path}/".startswith(f"{BUNDLER.path}/") and method in CHARGED
    call = Call(method="POST", path=path, read=_json, content=body, headers=_JSON)
    return replace(call, named=named, only_reads=is_read(method))


def _json(reply: Reply) -> bytes:
    """Return the body. Raises ValueError if it is not JSON: an answer that broke off is a lost one."""
    as_json(reply)
    return reply.content


def _method_of(body: bytes) -> str:
    """Return the method of a single call; an empty text for a batch, which is not repeated here."""
    try:
        return msgspec.json.decode(body, type=_Request).method
    except msgspec.DecodeError:
        return ""

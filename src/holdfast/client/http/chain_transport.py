"""JSON-RPC over the client's own connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.chain.errors import TransportError
from holdfast.client.http.calls import refusal
from holdfast.wire.client_errors import NetworkError

if TYPE_CHECKING:
    from holdfast.client.http.transport import HttpTransport

_OK = range(200, 300)


class ChainTransport:
    """A Transport of holdfast.chain that uses the connections of a service's client."""

    def __init__(self, transport: HttpTransport) -> None:
        self._transport = transport

    @property
    def base_url(self) -> str:
        """The service's address."""
        return self._transport.base_url

    async def post(self, url: str, body: bytes) -> bytes:
        """See holdfast.chain.transports.Transport. If the service itself refused, that refusal is the error's cause."""
        try:
            reply = await self._transport.post(url, body)
        except NetworkError as error:
            raise TransportError(str(error)) from error
        if reply.status not in _OK:
            own = url.startswith(f"{self.base_url}/")
            raise TransportError(f"HTTP status {reply.status}", reply.status) from (refusal(reply) if own else None)
        return reply.content

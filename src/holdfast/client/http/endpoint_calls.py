"""Makes calls from the declarations of endpoints and the fields of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from holdfast.client.http.calls import Call, Reader, Reply, as_bytes, as_json, as_text, as_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.client.http.transport import HttpTransport
    from holdfast.wire.endpoints import Endpoint
    from holdfast.wire.requests import Asked

__all__ = ["EndpointCaller", "as_bytes", "as_found", "as_json", "as_text", "as_type", "call_of"]

T = TypeVar("T")
A = TypeVar("A", bound="Asked")


class EndpointCaller:
    """Sends calls to declared endpoints."""

    _http: HttpTransport

    async def _call(
        self, endpoint: Endpoint[A], read: Reader[T], asked: A | None = None, *, base_url: str | None = None
    ) -> T:
        return await self._http.send(call_of(endpoint, read, asked, base_url=base_url))


def call_of(endpoint: Endpoint[A], read: Reader[T], asked: A | None = None, *, base_url: str | None = None) -> Call[T]:
    """Return the call. The request's fields become a GET's query, else the JSON body. Absent fields are left out."""
    fields = {} if asked is None else {k: v for k, v in msgspec.to_builtins(asked).items() if v is not None}
    in_query = endpoint.method == "GET"
    query: Mapping[str, str] = {name: str(value) for name, value in fields.items()} if in_query else {}
    body: Mapping[str, Any] | None = None if in_query or asked is None else fields
    return Call(method=endpoint.method, path=endpoint.path, read=read, query=query, body=body, base_url=base_url)


def as_found(kind: type[T]) -> Reader[T | None]:
    """Return a reader of answers that tell whether something was found; it gives None if not."""

    def read(reply: Reply) -> T | None:
        return as_type(kind)(reply) if msgspec.json.decode(reply.content, type=_Found).found else None

    return read


class _Found(msgspec.Struct):
    found: bool

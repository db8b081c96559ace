"""Builds calls from declared endpoints and the fields of a request."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import msgspec

from holdfast.client.http.calls import Call, Reader, Reply, as_bytes, as_json, as_text, as_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.client.http.transport import HttpTransport
    from holdfast.wire.endpoints import Endpoint
    from holdfast.wire.requests import Input

__all__ = ["EndpointCaller", "as_bytes", "as_found", "as_json", "as_text", "as_type", "call_of"]

T = TypeVar("T")
A = TypeVar("A", bound="Input")

NO_PARAMETERS: Mapping[str, str] = MappingProxyType({})
_REST = "path"  # the path parameter that matches several segments
_NO_SEGMENTS = frozenset({"", ".", ".."})  # these would be resolved to other paths (RFC 3986, section 5.2.4)


class EndpointCaller:
    """Sends calls to declared endpoints."""

    _http: HttpTransport

    async def _call(
        self,
        endpoint: Endpoint[A],
        read: Reader[T],
        given: A | None = None,
        *,
        path: Mapping[str, str] = NO_PARAMETERS,
        base_url: str | None = None,
    ) -> T:
        return await self._http.send(call_of(endpoint, read, given, path=path, base_url=base_url))


def call_of(
    endpoint: Endpoint[A],
    read: Reader[T],
    given: A | None = None,
    *,
    path: Mapping[str, str] = NO_PARAMETERS,
    base_url: str | None = None,
) -> Call[T]:
    """Return the call.

    The fields are sent in the query of a GET request and in the body of any other; absent fields are left out.

    Args:
        endpoint: what is called.
        read: makes the result from the response.
        given: the request's fields.
        path: a value for each of the endpoint's path parameters, before percent-encoding.
        base_url: overrides the client's service.

    Raises:
        ValueError: a path parameter's value is not a valid path segment.
    """
    fields = {} if given is None else {k: v for k, v in msgspec.to_builtins(given).items() if v is not None}
    in_query = endpoint.method == "GET"
    query: Mapping[str, str] = {name: str(value) for name, value in fields.items()} if in_query else {}
    body: Mapping[str, Any] | None = None if in_query or given is None else fields
    complete = _path_of(endpoint, path)
    return Call(
        method=endpoint.method,
        path=complete,
        read=read,
        query=query,
        body=body,
        base_url=base_url,
        named=endpoint.keyed,
    )


def _path_of(endpoint: Endpoint[A], values: Mapping[str, str]) -> str:
    """Return the endpoint's path with its parameters filled in."""
    filled = {name: _segment(name, values[name]) for name in endpoint.path_parameters}
    return endpoint.path.format_map(filled) if filled else endpoint.path


def _segment(name: str, value: str) -> str:
    """Return the value percent-encoded as a path segment (RFC 3986, section 3.3), or as several segments for `path`.

    Raises ValueError.
    """
    if any(segment in _NO_SEGMENTS for segment in (value.split("/") if name == _REST else [value])):
        raise ValueError(f"{name} is empty, '.' or '..': no such path can be asked for")
    return quote(value, safe="/" if name == _REST else "")


def as_found(kind: type[T]) -> Reader[T | None]:
    """Return a parser for responses with the field `found`. The parser returns None if `found` is false."""

    def read(reply: Reply) -> T | None:
        return as_type(kind)(reply) if msgspec.json.decode(reply.content, type=_Found).found else None

    return read


class _Found(msgspec.Struct):
    found: bool

"""Reads a request into the struct that its endpoint declares (wire/requests.py)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, get_args, get_type_hints
from urllib.parse import parse_qsl, unquote_plus

import msgspec

from holdfast.rules.identifiers import Channel
from holdfast.rules.limits import MAX_BODY_BYTES, MAX_BUNDLER_BODY_BYTES
from holdfast.wire.endpoints import BUNDLER, ErrorForm
from holdfast.wire.errors import Refused
from holdfast.wire.failures import BAD_REQUEST, SnapshotRefused
from holdfast.wire.requests import Input

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from holdfast.service.http.messages import Request
    from holdfast.wire.endpoints import Endpoint

A = TypeVar("A", bound=Input)

_MAX_QUERY_CHARACTERS = 8 * 1024
_MAX_PARAMETERS = 64

_SHORT_BODY_BYTES = 2 * 1024
_SHORT_VALUE_BYTES = 64

_decode = msgspec.json.Decoder().decode
_texts = msgspec.json.Decoder(str | list[str] | dict[str, str]).decode
_split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class _Field(NamedTuple):
    attribute: str
    name: str
    other_names: tuple[str, ...]
    convert: Callable[[Any], Any]  # the value, or None if it counts as absent
    required: bool


class Reader(Generic[A]):
    """Reads the input of one endpoint."""

    def __init__(self, endpoint: Endpoint[A]) -> None:
        assert endpoint.input is not None
        self._input = endpoint.input
        self._missing = endpoint.missing
        self._fields = _fields_of(endpoint.input)

    def of(self, given: Mapping[str, object]) -> A:
        """Return the endpoint's struct with these fields, which have their wire names.

        Raises Refused with the endpoint's row if a required field is absent.
        """
        try:  # nearly all requests have the struct's own names and types, which msgspec reads faster
            return self.picked(given) if "" in given.values() else msgspec.convert(given, self._input)
        except msgspec.ValidationError:
            return self.picked(given)

    def picked(self, given: Mapping[str, object]) -> A:
        """Return what `of` returns, but read field by field."""
        values, fields = {}, self._input.completed(given)
        for attribute, name, other_names, convert, required in self._fields:
            value = convert(fields.get(name))
            if value is None and other_names:
                value = _first(fields, other_names, convert)
            if value is not None:
                values[attribute] = value
            elif required:
                assert self._missing is not None
                raise Refused(self._missing)
        return self._input(**values)


class StrictReader(Generic[A]):
    """Reads the input of one endpoint whose struct is strict; refuses in the form of the endpoint's errors."""

    def __init__(self, endpoint: Endpoint[A]) -> None:
        assert endpoint.input is not None
        self._input = endpoint.input
        self._endpoint = endpoint
        self._decode = msgspec.json.Decoder(endpoint.input).decode

    def of_body(self, body: bytes) -> A:
        """Return the struct that a body contains as JSON."""
        try:
            body.decode()  # nothing else checks that the parts that stay undecoded are UTF-8
            return self._decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._refused(f"the body cannot be read: {error}") from None

    def of_query(self, query: str) -> A:
        """Return the struct that a query contains, in which empty parameters count as present."""
        if len(query) > _MAX_QUERY_CHARACTERS:
            raise self._refused(f"a query has at most {_MAX_QUERY_CHARACTERS} characters")
        try:
            pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), max_num_fields=_MAX_PARAMETERS)
        except ValueError:
            raise self._refused("the query cannot be read") from None
        given: dict[str, str] = {}
        for name, value in pairs:
            repeated = name in given and name in self._input.LISTS
            given[name] = f"{given[name]},{value}" if repeated else given.get(name, value)
        return msgspec.convert(self._input.completed(given), self._input)

    def _refused(self, details: str) -> Exception:
        if self._endpoint.errors_as is not ErrorForm.HOLDFAST:
            return SnapshotRefused(BAD_REQUEST, details)
        assert self._endpoint.missing is not None
        return Refused(self._endpoint.missing)


def reads(endpoint: Endpoint[A]) -> Callable[[Request], Awaitable[A]]:
    """Return the function that reads the endpoint's input from a request, as the endpoint declares it."""
    assert endpoint.input is not None
    return _strictly(endpoint) if endpoint.input.STRICT else _leniently(endpoint)


def _leniently(endpoint: Endpoint[A]) -> Callable[[Request], Awaitable[A]]:
    read = Reader(endpoint).of

    async def query(request: Request) -> A:
        return read(query_values(request.query))

    async def body(request: Request) -> A:
        return read(await json_object(request))

    return query if endpoint.in_query else body


def _strictly(endpoint: Endpoint[A]) -> Callable[[Request], Awaitable[A]]:
    reader, limit = StrictReader(endpoint), body_limit(endpoint)

    async def query(request: Request) -> A:
        return reader.of_query(request.query)

    async def body(request: Request) -> A:
        return reader.of_body(await request.body(limit))

    return query if endpoint.in_query else body


def body_limit(endpoint: Endpoint[A]) -> int:
    """Return the largest number of bytes that the endpoint's JSON body may have."""
    return MAX_BUNDLER_BODY_BYTES if endpoint.key == BUNDLER.key else MAX_BODY_BYTES


def _first(given: Mapping[str, Any], names: tuple[str, ...], convert: Callable[[Any], Any]) -> Any:
    for name in names:
        value = convert(given.get(name))
        if value is not None:
            return value
    return None


def _fields_of(declared: type[Input]) -> tuple[_Field, ...]:
    hints = get_type_hints(declared)
    return tuple(
        _Field(
            attribute=field.name,
            name=field.encode_name,
            other_names=declared.OTHER_NAMES.get(field.name, ()),
            convert=_CONVERTERS[_without_none(hints[field.name])],
            required=field.required,
        )
        for field in msgspec.structs.fields(declared)
    )


def _without_none(hint: Any) -> Any:
    """Return the type without `| None`; for a list, `list`."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)] if type(None) in get_args(hint) else [hint]
    return getattr(kinds[0], "__origin__", kinds[0])


def _text(value: Any) -> str | None:
    return value if type(value) is str and value else None


def _integer(value: Any) -> int | None:
    if type(value) is float and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def _list(value: Any) -> list[Any] | None:
    return value if type(value) is list else None


_CONVERTERS: dict[Any, Callable[[Any], Any]] = {str: _text, int: _integer, list: _list, Any: lambda value: value}


async def json_object(request: Request) -> Mapping[str, object]:
    """Return the fields of a request's body; if the body is not a JSON object, all fields count as absent."""
    body = await request.body(MAX_BODY_BYTES)
    try:
        # Short bodies, which are nearly all, are decoded at once, because that is faster.
        value = _decode(body) if len(body) <= _SHORT_BODY_BYTES else _decoded_parts(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if type(value) is dict else {}


def _decoded_parts(body: bytes) -> dict[str, Any]:
    """Return the first 64 fields of a long body, without those whose long values are not made of texts alone.

    No endpoint needs others, and some take long to decode, such as lists of numbers with large exponents.
    """
    found = {}
    for name, part in list(_split(body).items())[:_MAX_PARAMETERS]:
        with suppress(msgspec.ValidationError):
            found[name] = _decode(part) if len(part) <= _SHORT_VALUE_BYTES else _texts(part)
    return found


def query_values(query: str) -> dict[str, str]:
    """Return the parameters of a query string.

    Only the first of repeated parameters counts (WHATWG URL, get); empty parameters count as absent, and so do those
    after the 64th and all of a query of more than 8 KiB.
    """
    found: dict[str, str] = {}
    if len(query) > _MAX_QUERY_CHARACTERS:
        return found
    for pair in query.split("&", _MAX_PARAMETERS)[:_MAX_PARAMETERS]:
        name, _, value = pair.partition("=")
        if "%" in pair or "+" in pair:
            name, value = unquote_plus(name), unquote_plus(value)
        found.setdefault(name, value)
    return found if all(found.values()) else {name: value for name, value in found.items() if value}


def restore_plus_sign(text: str, channel: Channel) -> str:
    """Return an identifier from a query string.

    Spaces become plus signs, because addresses and numbers have no spaces.
    """
    if channel is Channel.HANDLE:
        return text
    if channel is Channel.EMAIL:
        return text.strip(" ").replace(" ", "+")
    return "+" + text[1:] if text.startswith(" ") else text

"""From bytes to requests: what the parser (llhttp) says, and what is refused before anybody sees it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol

import httptools

from holdfast.rules.limits import MAX_HEAD_BYTES, MAX_HEADERS
from holdfast.service.http_server.answers import bare
from holdfast.service.http_server.request import BodySource, Fields, IncomingRequest

if TYPE_CHECKING:
    from holdfast.service.web.http import Response

_METHODS = {method.encode(): method for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")}
_VERSIONS = frozenset({"1.1", "1.0"})
_WRAPPING = 8  # bytes of chunk sizes and their extensions for each byte of a body; chunks of one byte need five
_BAD_REQUEST = bare(HTTPStatus.BAD_REQUEST)
_HEAD_TOO_LARGE = bare(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
_WRONG_VERSION = bare(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED)


class Receiver(BodySource, Protocol):
    """Whom the intake tells."""

    def begun(self) -> None:
        """The first byte of a request came."""
        ...

    def arrived(self, request: IncomingRequest) -> None:
        """The head of a request is whole."""
        ...


class Intake:
    """One connection's stream of requests.

    Attributes:
        reading: the request whose body is on its way.
        in_head: whether a head has begun and is not whole.
        over: nothing that follows is HTTP.
    """

    __slots__ = (
        "_fields",
        "_parser",
        "_peer",
        "_received",
        "_receiver",
        "_refusal",
        "_target",
        "in_head",
        "over",
        "reading",
    )

    def __init__(self, receiver: Receiver, peer: str) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._receiver = receiver
        self._peer = peer
        self._refusal: Response | None = None
        self._target = b""
        self._fields: Fields = []
        self._received = 0  # bytes since the last whole request, an upper bound of a head's size
        self.reading: IncomingRequest | None = None
        self.in_head = False
        self.over = False

    def feed(self, data: bytes | memoryview) -> Response | None:
        """Parse; the refusal when this is no request or too much of one."""
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.over = True  # not taken up: the request is answered as it is
        except httptools.HttpParserError:
            return self._refusal or _BAD_REQUEST
        return _HEAD_TOO_LARGE if (self.in_head or self.reading) and self._overflows() else None

    def end(self) -> None:
        """Nothing more will come: let go of what refers back here, so that no collector is needed."""
        if self.reading:
            self.reading.break_off()
        self.reading = None
        del self._parser, self._receiver

    # -- what the parser calls -----------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request starts."""
        self.in_head = True
        self._target = b""
        self._fields = []
        self._receiver.begun()

    def on_url(self, piece: bytes) -> None:
        """A piece of the request target."""
        self._target += piece

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header, whole."""
        self._fields.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head is whole. Raises ValueError, which stops the parser, for one that is refused."""
        self.in_head = False
        version = self._parser.get_http_version()
        if version not in _VERSIONS:
            self._refuse(_WRONG_VERSION)
        if len(self._fields) > MAX_HEADERS or (self._received > MAX_HEAD_BYTES and self._size() > MAX_HEAD_BYTES):
            self._refuse(_HEAD_TOO_LARGE)
        old = version == "1.0"
        hosts = self._hosts()
        if hosts != 1 and (hosts or not old):  # RFC 9112, section 3.2
            self._refuse(_BAD_REQUEST)
        method = self._parser.get_method()
        name = _METHODS.get(method) or method.decode("ascii")
        request = IncomingRequest(self._receiver, name, self._target, self._fields, self._peer)
        request.old = old
        request.keep_alive = not old and self._parser.should_keep_alive()
        self._fields = []  # what comes now are trailers, which are no headers (RFC 9110, section 6.5.1)
        self.reading = request
        self._receiver.arrived(request)

    def on_chunk_header(self) -> None:
        """A chunk begins. Raises ValueError when chunks are not all that the body is wrapped in.

        The parser lets other codings before them pass, and what it hands over would not be the content (RFC 9112,
        section 6.1).
        """
        if self.reading and not self.reading.size and not self.reading.plainly_chunked:
            raise ValueError("unknown coding")

    def on_body(self, chunk: bytes) -> None:
        """A piece of the body."""
        if self.reading:
            self.reading.feed(chunk)

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._received = 0
        if self.reading:
            self.reading.finish()
            self.reading = None

    def _hosts(self) -> int:
        found = 0  # a loop is the fastest way to count; every request pays for this
        for name, _ in self._fields:
            if name == b"host":
                found += 1
        return found

    def _overflows(self) -> bool:
        """Whether half a request is too large already, its body not counted: that is for whoever reads it."""
        if self.reading:
            return self._received > 2 * MAX_HEAD_BYTES + (1 + _WRAPPING) * self.reading.size
        return self._received > MAX_HEAD_BYTES or len(self._fields) > MAX_HEADERS

    def _size(self) -> int:
        return len(self._target) + sum(len(name) + len(value) + 4 for name, value in self._fields)

    def _refuse(self, answer: Response) -> None:
        self._refusal = answer
        raise ValueError("refused")

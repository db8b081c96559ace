"""One file in a multipart/form-data body, read as it arrives (RFC 7578)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_PART_HEADER_BYTES = 8 * 1024
_MAX_HEADERS = 8
_MAX_BOUNDARY = 70  # RFC 2046, section 5.1.1


class NotOneFile(ValueError):
    """The body is not a multipart form with exactly one file; the message says why."""


def boundary_of(content_type: str | None) -> bytes:
    """Return the boundary in a Content-Type. Raises NotOneFile for any type but multipart/form-data."""
    if content_type is None or not content_type.isascii():
        raise NotOneFile("the body's type cannot be read")
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 0 < len(boundary) <= _MAX_BOUNDARY:
        raise NotOneFile("the body is not multipart/form-data with a boundary")
    return boundary


class OneFile:
    """Passes the bytes of a form's single file to `write`.

    The name of the form's part does not matter and may be empty.
    """

    def __init__(self, boundary: bytes, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._parts = 0
        self._ended = False
        self._type = bytearray()
        self._header = bytearray()
        self._value = bytearray()
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._on_part,
                "on_header_field": self._on_field,
                "on_header_value": self._on_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers,
                "on_part_data": self._on_data,
                "on_end": self._on_end,
            },
            max_header_count=_MAX_HEADERS,
            max_header_size=MAX_PART_HEADER_BYTES // _MAX_HEADERS,
        )

    def feed(self, piece: bytes) -> None:
        """Parse the next piece of the body. Raises NotOneFile, and whatever `write` raises."""
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise NotOneFile("the multipart body cannot be read") from error

    def finish(self) -> None:
        """Record that the body has ended. Raises NotOneFile if the form is incomplete."""
        if not self._ended or self._parts != 1:
            raise NotOneFile("the multipart body is cut short, or has no file")

    def _on_part(self) -> None:
        self._parts += 1
        if self._parts > 1:
            raise NotOneFile("the multipart body has more than one part")

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header.lower() == b"content-type":
            self._type = self._value
        self._header, self._value = bytearray(), bytearray()

    def _on_headers(self) -> None:
        kind, _ = parse_options_header(bytes(self._type))
        if kind in {b"application/x-directory", b"application/symlink"}:
            raise NotOneFile("the part is a folder or a link, not a file")

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        self._write(data[start:end])

    def _on_end(self) -> None:
        self._ended = True

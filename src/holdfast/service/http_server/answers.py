"""Responses as bytes on the wire (RFC 9112, sections 4 to 6)."""

from __future__ import annotations

from email.utils import formatdate
from http import HTTPStatus

from holdfast.service.web.http import ANY_ORIGIN, EXPOSED, NO_SNIFFING, Response, encoded_lines, length_missing

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
# An upstream may answer with a status that nobody registered: its phrase is empty (RFC 9112, section 4).
_STATUS_LINES = {status: f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n".encode() for status in range(200, 600)}
_CLOSE = b"connection: close\r\n"
_JOINED_UP_TO = 16 * 1024  # copying more costs more than a second buffer


def bare(status: HTTPStatus) -> Response:
    """The server's own refusal of what is no request: browsers may read it, and there is nothing to say."""
    return Response(status.value, [ANY_ORIGIN, EXPOSED, NO_SNIFFING], b"")


def date_line(now: float) -> bytes:
    """The Date header of this moment (RFC 9110, section 6.6.1), which every answer within the second shares."""
    return f"date: {formatdate(now, usegmt=True)}\r\n".encode()


def wants_close(response: Response) -> bool:
    """Whether the answer ends its connection."""
    return ("connection", "close") in response.headers


def encoded(response: Response, date: bytes, *, close: bool) -> list[bytes]:
    """The whole answer, in one piece or, where the body is large, in two."""
    body = response.body
    head = b"%b%b%b%b%b%b\r\n" % (
        _STATUS_LINES[response.status],
        date,
        encoded_lines(response.headers),
        b"x-request-id: %b\r\n" % response.request_id.encode("ascii") if response.request_id else b"",
        b"content-length: %d\r\n" % len(body) if body or length_missing(response) else b"",
        _CLOSE if close and not wants_close(response) else b"",
    )
    return [head, body] if len(body) > _JOINED_UP_TO else [head + body]

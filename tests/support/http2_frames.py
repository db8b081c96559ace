"""As much of HTTP/2 (RFC 9113) as a client needs that asks for much and reads little."""

from __future__ import annotations

import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
_END_STREAM, _END_HEADERS, _ACK = 1, 4, 1


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def settings(**values: int) -> bytes:
    """SETTINGS, such as `initial_window_size=0`."""
    numbers = {"header_table_size": 1, "enable_push": 2, "max_concurrent_streams": 3, "initial_window_size": 4}
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", numbers[name], value) for name, value in values.items()))


def settings_ack() -> bytes:
    return frame(SETTINGS, _ACK, 0, b"")


def get(stream: int, path: str, authority: str = "localhost") -> bytes:
    """HEADERS of a GET request, as literal fields that no table remembers (RFC 7541, 6.2.2)."""
    fields = {":method": "GET", ":scheme": "https", ":authority": authority, ":path": path}
    block = b"".join(b"\0" + _text(name) + _text(value) for name, value in fields.items())
    return frame(HEADERS, _END_STREAM | _END_HEADERS, stream, block)


def status_of(headers: bytes) -> int:
    """Return the status with which a response's HEADERS begin, if it is one of the usual ones (RFC 7541, A)."""
    return {0x88: 200, 0x8C: 400, 0x8D: 404, 0x8E: 500}[headers[0]]


def _text(value: str) -> bytes:
    assert len(value) < 127
    return bytes([len(value)]) + value.encode()


def frames(data: bytes) -> list[tuple[int, int, int, bytes]]:
    """Return the whole frames in `data`: kind, flags, stream, payload."""
    found, at = [], 0
    while at + 9 <= len(data):
        length = int.from_bytes(data[at : at + 3])
        if at + 9 + length > len(data):
            break
        found.append(
            (data[at + 3], data[at + 4], int.from_bytes(data[at + 5 : at + 9]), data[at + 9 : at + 9 + length])
        )
        at += 9 + length
    return found

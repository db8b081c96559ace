"""Large responses: how many are under way, and how long the client may take.

HTTP servers keep what a client does not read. So a large body is handed over in parts, each only when the client has
taken enough of the parts before it; and the number of such bodies is limited, in a process and for an address.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from holdfast.rules.limits import (
    LARGE_RESPONSE_BYTES,
    LARGE_RESPONSE_BYTES_PER_S,
    LARGE_RESPONSE_S,
    LARGE_RESPONSE_WAITS_S,
    STREAM_BUFFER_BYTES,
)
from holdfast.service.http.messages import Response, StreamedResponse
from holdfast.wire.errors import SERVICE_BUSY, TOO_MANY_RESPONSES, Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from holdfast.wire.errors import ErrorRow

PART_BYTES = 64 * 1024
# Of a stream that its client does not read, the server gets two parts under RSGI and four under ASGI.
STREAM_PART_BYTES = STREAM_BUFFER_BYTES // 2
_RETRY_AFTER_S = 5


class LargeResponses:
    """The places of a process for large responses."""

    def __init__(
        self, capacity: int, per_address: int, send_timeout_s: float, waits_s: float = LARGE_RESPONSE_WAITS_S
    ) -> None:
        """Allow `capacity` in all, `per_address` of them for one address, and `send_timeout_s` for a part of a body.

        A response waits `waits_s` for a slot.
        """
        self._waits_s = waits_s
        self._capacity = capacity
        self._per_address = per_address
        self._send_timeout_s = send_timeout_s
        self._held: Counter[str] = Counter()
        self._freed = asyncio.Event()

    async def slot(self, subject: str, size: int) -> Slot:
        """Take a slot for a body of `size` bytes to this address. Raises Refused if none becomes free in time."""
        try:
            async with asyncio.timeout(self._waits_s):
                while self._full(subject):
                    await self._freed.wait()
        except TimeoutError:
            raise Refused(self._full(subject) or SERVICE_BUSY, _RETRY_AFTER_S) from None
        self._held[subject] += 1
        return Slot(lambda: self._free(subject), size, self._send_timeout_s)

    def _full(self, subject: str) -> ErrorRow | None:
        if self._held[subject] >= self._per_address:
            return TOO_MANY_RESPONSES
        return SERVICE_BUSY if self._held.total() >= self._capacity else None

    def _free(self, subject: str) -> None:
        self._held[subject] -= 1
        self._held += Counter()  # drops addresses without a slot
        freed, self._freed = self._freed, asyncio.Event()
        freed.set()


class Slot:
    """A slot that a large response holds, and the time that is left for it."""

    __slots__ = ("_ends", "_send_timeout_s", "leave")

    def __init__(self, leave: Callable[[], None], size: int, send_timeout_s: float) -> None:
        self.leave = leave
        self._send_timeout_s = send_timeout_s
        self._ends = asyncio.get_running_loop().time() + LARGE_RESPONSE_S + size / LARGE_RESPONSE_BYTES_PER_S

    def part(self) -> asyncio.Timeout:
        """Return the time limit for handing over one part of the body."""
        now = asyncio.get_running_loop().time()
        return asyncio.timeout_at(min(now + self._send_timeout_s, self._ends))


class LimitedResponse(StreamedResponse):
    """A large response that has a slot, for this version of HTTP. Its sender leaves the slot afterwards."""

    __slots__ = ("part_bytes", "slot")

    def __init__(self, response: Response, slot: Slot, version: str | None) -> None:
        pieces = response.pieces if isinstance(response, StreamedResponse) else _one_piece(response.body)
        super().__init__(response.status, response.headers, pieces, body_bytes(response))
        self.slot = slot
        self.part_bytes = STREAM_PART_BYTES if version == "2" else PART_BYTES


class LaterResponse(Response):
    """A large response of `size` bytes that is read once it has a slot, so that those that wait occupy no memory."""

    __slots__ = ("read", "size")

    def __init__(self, size: int, read: Callable[[], Awaitable[Response]]) -> None:
        super().__init__(200, [], b"")
        self.size = size
        self.read = read


def largest_at_once(version: str | None) -> int:
    """Return how many bytes a body may have that the server gets at once, on this version of HTTP.

    A connection has one such body, but on HTTP/2 as many as it has streams.
    """
    return STREAM_BUFFER_BYTES if version == "2" else LARGE_RESPONSE_BYTES


def is_large(response: Response, version: str | None) -> bool:
    """Return whether the body is sent only as fast as the client takes it."""
    return len(response.body) > largest_at_once(version) or type(response) in _LARGE


def body_bytes(response: Response) -> int:
    """Return how many bytes the body has."""
    return response.size if isinstance(response, StreamedResponse | LaterResponse) else len(response.body)


_LARGE = frozenset({StreamedResponse, LaterResponse})


async def _one_piece(body: bytes | bytearray) -> AsyncIterator[bytes | bytearray]:
    yield body

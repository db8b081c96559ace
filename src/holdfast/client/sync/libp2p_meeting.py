"""A host through which two devices that cannot listen, such as two browsers, can pair. It relays their messages unread.

On `/holdfast/sync/meet/1.0.0`, the first message of a stream says which device opened it:

    device that holds the vault   {"meeting": M, "gives": true}    reply {"waiting": true}; then it replies to messages
    new device                    {"meeting": M, "message": {…}}   reply: the other device's reply

M is a random name for the pairing that only the two devices know. The six digits protect the pairing from this host, as
they do from anyone else between the devices.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.client.sync.libp2p_host import (
    LENGTH_BYTES,
    LOOPBACK,
    Libp2pHost,
    copy_message,
    network_error,
    peer_of,
    read_first,
    write_message,
)
from holdfast.client.sync.protocol import LIFE_S
from holdfast.wire.client_errors import NetworkError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.client.sync.libp2p_host import Stream
    from holdfast.client.vault.boot import BootLog

MEET = "/holdfast/sync/meet/1.0.0"
MAX_MEETINGS, MAX_MEETINGS_EACH = 64, 4  # in all, and of one peer
LEAST_NAME = 16
_REFUSED = msgspec.json.encode({"error": "refused"})


class First(msgspec.Struct):
    """The first message of a stream.

    Attributes:
        meeting: the name of the meeting, at least 16 characters.
        gives: whether the device that opened the stream has the vault.
        message: the new device's message, an object. It is forwarded, not decoded: anyone may have sent it.
    """

    meeting: str
    gives: bool = False
    message: msgspec.Raw = msgspec.Raw(b"{}")

    def __post_init__(self) -> None:
        if not bytes(self.message).startswith(b"{"):
            raise ValueError("the message is not an object")


class Libp2pMeeting(Libp2pHost):
    """Runs a meeting host at `address` until the `with` block ends.

    Args:
        log: see Libp2pHost.
        listen: see Libp2pHost.
        seed: see Libp2pHost.
        most: how many devices may wait at the same time; others are refused.
        only: the name of the only meeting; by default any name.
    """

    def __init__(
        self,
        *,
        log: BootLog | None = None,
        listen: str = LOOPBACK,
        seed: bytes | None = None,
        most: int = MAX_MEETINGS,
        only: str | None = None,
    ) -> None:
        super().__init__(log=log, listen=listen, seed=seed)
        self._most, self._only = most, only
        self._givers: dict[str, _Giver] = {}

    async def ask(self, meeting: str, message: dict[str, object]) -> dict[str, object]:
        """Send a message to the device that waits in the named meeting, and return its reply.

        Raises NetworkError if none is waiting.
        """
        import trio

        async def response() -> bytes:
            reply = bytearray()
            await self._forward(meeting, msgspec.json.encode(message), _appends(reply))
            return bytes(reply[LENGTH_BYTES:])

        def waited() -> bytes:
            return trio.from_thread.run(response, trio_token=self._token)

        try:
            return msgspec.json.decode(await asyncio.to_thread(waited), type=dict[str, Any])
        except Exception as error:
            raise network_error("the other device does not answer", error) from error

    def waits(self, meeting: str) -> bool:
        """Return whether a device is waiting in the named meeting."""
        return meeting in self._givers

    def handlers(self) -> dict[str, Callable[[Stream], Awaitable[None]]]:
        """See Libp2pHost."""
        return {MEET: self.guarded(self._on_stream)}

    async def _on_stream(self, stream: Stream) -> None:
        first = msgspec.json.decode(await read_first(stream), type=First)
        if first.gives:
            await self._wait(first.meeting, stream)
        else:
            await self._answer(first, stream)

    async def _answer(self, first: First, stream: Stream) -> None:
        has_begun = False

        async def write(data: bytes) -> None:
            nonlocal has_begun
            has_begun = True
            await stream.write(data)

        try:
            await self._forward(first.meeting, bytes(first.message), write)
        except Exception:  # no such device, or it has gone: py-libp2p raises many kinds of errors
            if has_begun:
                raise
            await write_message(stream, _REFUSED)

    async def _forward(self, meeting: str, body: bytes, write: Callable[[bytes], Awaitable[None]]) -> None:
        giver = self._givers.get(meeting)
        if giver is None:
            raise NetworkError("no device waits under this name")
        await giver.ask(body, write)

    def _accepts(self, meeting: str, peer: str) -> bool:
        """Return whether a device of a peer may wait under a name."""
        of_peer = sum(giver.peer == peer for giver in self._givers.values())
        has_room = len(self._givers) < self._most and of_peer < MAX_MEETINGS_EACH
        return has_room and len(meeting) >= LEAST_NAME and meeting not in self._givers and self._only in {None, meeting}

    async def _wait(self, meeting: str, stream: Stream) -> None:
        import trio

        if not self._accepts(meeting, peer_of(stream)):
            await write_message(stream, _REFUSED)
            return
        giver = self._givers[meeting] = _Giver(stream)
        try:
            await write_message(stream, msgspec.json.encode({"waiting": True}))
            with trio.move_on_after(LIFE_S):
                await giver.left()
        finally:
            del self._givers[meeting]


class _Giver:
    """A device that waits in a meeting with its vault; messages are sent to it one at a time."""

    def __init__(self, stream: Stream) -> None:
        import trio

        self._stream, self._turn, self._has_failed = stream, trio.Lock(), False
        self._looking = trio.CancelScope()
        self.peer = peer_of(stream)

    async def ask(self, body: bytes, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Send a message, and pass the reply on as it arrives: it may have many MiB."""
        self._looking.cancel()
        async with self._turn:
            try:
                await write_message(self._stream, body)
                await copy_message(self._stream, write)
            except BaseException:
                self._has_failed = True
                raise

    async def left(self) -> None:
        """Wait until the device ends the stream, or until an error. What it sent before is then passed on.

        The device waits for the host's end in turn: py-libp2p drops what is unread when a connection ends.
        """
        import trio

        while not self._has_failed:
            # The scope is new before the turn is waited for, so that a message that comes now cancels this look.
            with trio.CancelScope() as self._looking:
                async with self._turn:
                    if not self._has_failed:
                        with suppress(Exception):  # py-libp2p raises many kinds of errors for an end
                            await self._stream.read(1)  # a device sends nothing unasked
                        return


def _appends(to: bytearray) -> Callable[[bytes], Awaitable[None]]:
    async def write(data: bytes) -> None:
        to.extend(data)

    return write


class MeetingChannel:
    """A channel to the device that waits in a meeting, for a new device that runs the meeting host itself."""

    def __init__(self, host: Libp2pMeeting, meeting: str) -> None:
        self._host, self._meeting = host, meeting

    async def ask(self, message: dict[str, object]) -> dict[str, object]:
        """See PairingChannel."""
        return await self._host.ask(self._meeting, message)

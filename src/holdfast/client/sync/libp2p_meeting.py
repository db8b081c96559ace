"""A host through which two devices that cannot listen, such as two browsers, can pair. It relays their messages unread.

On `/holdfast/sync/meet/1.0.0`, the first message of a stream says which device opened it:

    device that holds the vault   {"meeting": M, "gives": true}    reply {"waiting": true}; then it replies to messages
    new device                    {"meeting": M, "message": {…}}   reply: the other device's reply

M is a random name for the pairing that only the two devices know. The six digits protect the pairing from this host, as
they do from anyone else between the devices.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.client.sync.libp2p_host import LOOPBACK, Libp2pHost, network_error, read_message, write_message
from holdfast.client.sync.protocol import LIFE_S
from holdfast.wire.client_errors import NetworkError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.client.sync.libp2p_host import Stream
    from holdfast.client.vault.boot import BootLog

MEET = "/holdfast/sync/meet/1.0.0"
MAX_MEETINGS = 64
LEAST_NAME = 16
_REFUSED = {"error": "refused"}
FIRST_S = 10.0


class First(msgspec.Struct):
    """The first message of a stream.

    Attributes:
        meeting: the name of the meeting, at least 16 characters.
        gives: whether the device that opened the stream has the vault.
        message: the new device's first message.
    """

    meeting: str
    gives: bool = False
    message: dict[str, Any] | None = None


class Libp2pMeeting(Libp2pHost):
    """Runs a meeting host at `address` until the `with` block ends.

    Args:
        log: see Libp2pHost.
        listen: see Libp2pHost.
        seed: see Libp2pHost.
        most: how many devices may wait at the same time; others are refused.
    """

    def __init__(
        self, *, log: BootLog | None = None, listen: str = LOOPBACK, seed: bytes | None = None, most: int = MAX_MEETINGS
    ) -> None:
        super().__init__(log=log, listen=listen, seed=seed)
        self._most = most
        self._givers: dict[str, _Giver] = {}

    async def ask(self, meeting: str, message: dict[str, object]) -> dict[str, object]:
        """Send a message to the device that waits in the named meeting, and return its reply.

        Raises NetworkError if none is waiting.
        """
        import trio

        def response() -> bytes:
            return trio.from_thread.run(self._response, meeting, message, trio_token=self._token)

        try:
            return msgspec.json.decode(await asyncio.to_thread(response), type=dict[str, Any])
        except Exception as error:
            raise network_error("the other device does not answer", error) from error

    def waits(self, meeting: str) -> bool:
        """Return whether a device is waiting in the named meeting."""
        return meeting in self._givers

    def handlers(self) -> dict[str, Callable[[Stream], Awaitable[None]]]:
        """See Libp2pHost."""
        return {MEET: self._on_stream}

    async def _on_stream(self, stream: Any) -> None:
        import trio

        try:
            with trio.fail_after(FIRST_S):
                first = msgspec.json.decode(await read_message(stream), type=First)
            if first.gives:
                await self._wait(first.meeting, stream)
            else:
                await write_message(stream, await self._answer(first))
            await stream.close()
        except Exception:  # noqa: BLE001 - py-libp2p raises many kinds of errors; one stream ends, the host goes on
            await stream.reset()

    async def _answer(self, first: First) -> bytes:
        try:
            return await self._response(first.meeting, first.message or {})
        except Exception:  # noqa: BLE001 - no such device, or it has gone: py-libp2p raises many kinds of errors
            return msgspec.json.encode(_REFUSED)

    async def _response(self, meeting: str, message: dict[str, Any]) -> bytes:
        giver = self._givers.get(meeting)
        if giver is None:
            raise NetworkError("no device waits under this name")
        return await giver.ask(msgspec.json.encode(message))

    async def _wait(self, meeting: str, stream: Any) -> None:
        import trio

        if len(meeting) < LEAST_NAME or meeting in self._givers or len(self._givers) >= self._most:
            await write_message(stream, msgspec.json.encode(_REFUSED))
            return
        giver = self._givers[meeting] = _Giver(stream)
        try:
            await write_message(stream, msgspec.json.encode({"waiting": True}))
            with trio.move_on_after(LIFE_S):
                await giver.gone.wait()
        finally:
            del self._givers[meeting]


class _Giver:
    """A device that waits in a meeting with its vault; messages are sent to it one at a time.

    The device is removed after an error or after its last response.
    """

    def __init__(self, stream: Any) -> None:
        import trio

        self._stream, self._turn, self.gone = stream, trio.Lock(), trio.Event()

    async def ask(self, body: bytes) -> bytes:
        async with self._turn:
            try:
                await write_message(self._stream, body)
                answer = await read_message(self._stream)
            except BaseException:
                self.gone.set()
                raise
            return answer


class MeetingChannel:
    """A channel to the device that waits in a meeting, for a new device that runs the meeting host itself."""

    def __init__(self, host: Libp2pMeeting, meeting: str) -> None:
        self._host, self._meeting = host, meeting

    async def ask(self, message: dict[str, object]) -> dict[str, object]:
        """See PairingChannel."""
        return await self._host.ask(self._meeting, message)

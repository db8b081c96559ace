"""How a server's thread reaches a holder, whose vault may live in an event loop elsewhere."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.client.sync.protocol import LIFE_S

if TYPE_CHECKING:
    from holdfast.client.sync.protocol import Holder


class Desk:
    """Answers encoded messages from any thread.

    Args:
        holder: the pairing.
        loop: the loop of an asyncio vault; None for a blocking one.
    """

    def __init__(self, holder: Holder, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.holder, self._loop = holder, loop

    def answer(self, body: bytes) -> bytes:
        """The encoded answer to an encoded message."""
        try:
            message = msgspec.json.decode(body, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return b'{"error":"refused"}'
        return msgspec.json.encode(self._wait(message))

    def _wait(self, message: dict[str, Any]) -> dict[str, Any]:
        if self._loop is None:
            return asyncio.run(self.holder.handle(message))
        return asyncio.run_coroutine_threadsafe(self.holder.handle(message), self._loop).result(LIFE_S)

"""Access to a pairing from threads that serve other devices; the vault may belong to another thread's event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from holdfast.client.sync.protocol import LIFE_S, AsyncPairingServer

if TYPE_CHECKING:
    from collections.abc import Callable


class Answering(Protocol):
    """A pairing that responds in the calling thread, such as `PairingServer` in holdfast.client.blocking."""

    def answer(self, body: bytes) -> bytes:
        """Return the encoded response to an encoded message."""
        ...


def can_wait(server: Answering | AsyncPairingServer, loop: asyncio.AbstractEventLoop | None) -> bool:
    """Return whether the calling thread may wait for answers; false if its own event loop still has to make one."""
    try:
        return asyncio.get_running_loop() is not loop or not isinstance(server, AsyncPairingServer) or server.finished
    except RuntimeError:
        return True


def answer_of(
    server: Answering | AsyncPairingServer, loop: asyncio.AbstractEventLoop | None
) -> Callable[[bytes], bytes]:
    """Return a function that any thread may call to get responses.

    Raises ValueError for an asyncio pairing without `loop`.
    """
    if not isinstance(server, AsyncPairingServer):
        return server.answer
    if loop is None:
        raise ValueError("pass `loop`, the event loop of the asynchronous vault")
    return lambda body: asyncio.run_coroutine_threadsafe(server.answer(body), loop).result(LIFE_S)

"""Lets threads that serve other devices reach a pairing whose vault may live in another thread's event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from holdfast.client.sync.protocol import LIFE_S, AsyncPairingServer

if TYPE_CHECKING:
    from collections.abc import Callable


class Answering(Protocol):
    """A pairing that answers in the calling thread, such as holdfast.client.blocking's PairingServer."""

    def answer(self, body: bytes) -> bytes:
        """Return the encoded answer to an encoded message."""
        ...


def answer_of(
    server: Answering | AsyncPairingServer, loop: asyncio.AbstractEventLoop | None
) -> Callable[[bytes], bytes]:
    """Return an answer function for any thread. `loop` is an asynchronous pairing's. Raises ValueError without it."""
    if not isinstance(server, AsyncPairingServer):
        return server.answer
    if loop is None:
        raise ValueError("pass `loop`, the event loop of the asynchronous vault")
    return lambda body: asyncio.run_coroutine_threadsafe(server.answer(body), loop).result(LIFE_S)

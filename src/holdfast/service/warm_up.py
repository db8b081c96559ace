"""What only some requests need is loaded soon after the start, in a thread, so that neither the start nor they wait.

Importing takes turns with the event loop: a request meanwhile waits some milliseconds, not for the whole of it.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import TYPE_CHECKING

from holdfast.rules.identifiers import Channel, parse_identifier
from holdfast.rules.reserved_identifiers import passes_for_another

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_log = logging.getLogger("holdfast.service")
AFTER_S = 1.0  # by then whoever waits for the start has had its answer


def warm_up(*, engine: bool) -> asyncio.Task[None]:
    """Begin; `engine` says whether a workflow engine calls. Call within the event loop."""
    jobs = (_identifiers, _upstreams, *((_workflow,) if engine else ()))
    return asyncio.create_task(_later(jobs), name="holdfast-warm-up")


async def _later(jobs: Iterable[Callable[[], None]]) -> None:
    await asyncio.sleep(AFTER_S)
    for job in jobs:
        try:
            await asyncio.to_thread(job)
        except Exception:  # noqa: BLE001 - whoever needs it will meet the same, and say so
            _log.exception("warm-up failed", extra={"kind": job.__name__.strip("_")})
    if gc.get_freeze_count():  # the process has set aside what lives for ever; this is more of the same
        gc.freeze()


def _identifiers() -> None:
    """The tables behind handles and domains beyond ASCII, and behind telephone numbers."""
    for text, channel in (
        ("\u00e9", Channel.HANDLE),
        ("a@\u00e9.example", Channel.EMAIL),
        ("+14155552671", Channel.SMS),
    ):
        parse_identifier(text, channel)
    passes_for_another("\u00e9")


def _upstreams() -> None:
    """The HTTP client and what speaks to chains over it."""
    import aiohttp

    from holdfast.chain import rpc, transports

    del aiohttp, rpc, transports


def _workflow() -> None:
    """The workflow engine's SDK, and the transport that its HTTP client loads when one is made."""
    import httpx
    from inngest._internal import comm_lib, server_lib

    # The SDK's handler itself is made by the first request: its client belongs to the thread that made it.
    httpx.Client().close()
    del comm_lib, server_lib

"""Loads rarely needed modules in a thread soon after startup, so that neither startup nor a request waits for them.

The thread and the event loop alternate: a request that arrives during an import waits only a few milliseconds.
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
AFTER_S = 1.0  # by then, clients that waited for startup have their response


def warm_up(*, engine: bool) -> asyncio.Task[None]:
    """Start loading. `engine` says whether a workflow engine is configured. Call this within the event loop."""
    jobs = (_identifiers, _upstreams, *((_workflow,) if engine else ()))
    return asyncio.create_task(_later(jobs), name="holdfast-warm-up")


async def _later(jobs: Iterable[Callable[[], None]]) -> None:
    await asyncio.sleep(AFTER_S)
    for job in jobs:
        try:
            await asyncio.to_thread(job)
        except Exception:  # noqa: BLE001 - the request that needs it gets the same error and reports it
            _log.exception("warm-up failed", extra={"kind": job.__name__.strip("_")})
    if gc.get_freeze_count():  # these objects live as long as the process, so they are not collected
        gc.freeze()


def _identifiers() -> None:
    """Load the tables for non-ASCII handles and domains, and for phone numbers."""
    for text, channel in (
        ("\u00e9", Channel.HANDLE),
        ("a@\u00e9.example", Channel.EMAIL),
        ("+14155552671", Channel.SMS),
    ):
        parse_identifier(text, channel)
    passes_for_another("\u00e9")


def _upstreams() -> None:
    """Load the HTTP client and the JSON-RPC client that uses it."""
    import aiohttp

    from holdfast.chain import rpc, transports

    del aiohttp, rpc, transports


def _workflow() -> None:
    """Load the workflow engine's SDK, and the transport that its HTTP client loads when it is created."""
    import httpx
    from inngest import fast_api

    # The SDK's application is created not here but by the first request, because its HTTP client belongs to the thread
    # that creates it.
    httpx.Client().close()
    del fast_api

"""A time limit for many waits with a single timer: separate timers would cost microseconds per request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable

T = TypeVar("T")


class Deadlines:
    """Cancels the waits on an event loop that exceed a time limit, with a single timer for all of them."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._began: dict[asyncio.Task[Any], float] = {}  # oldest first
        self._late: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def within(self, wait: Awaitable[T]) -> T:
        """Return what `wait` returns. Raises TimeoutError at the limit or shortly after it."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        self._began[task] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(self._limit_s, self._sweep, loop)
        try:
            return await wait
        except asyncio.CancelledError:
            if task in self._late and task.uncancel() == 0:
                raise TimeoutError from None
            raise
        finally:
            del self._began[task]
            self._late.discard(task)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now = loop.time()
        for task, began in self._began.items():
            if now - began < self._limit_s:
                self._timer = loop.call_later(began + self._limit_s - now, self._sweep, loop)
                return
            self._late.add(task)
            task.cancel()

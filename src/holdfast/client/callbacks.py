"""Calls back into the application: where they run depends on who waits for the result.

Under asyncio a callback runs in the event loop's thread, and what may block runs in a worker thread. In a blocking
call both run in the thread that made the call: there they may block, ask a person, and use the blocking client again.
"""

from __future__ import annotations

import asyncio
import inspect
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Caller(Protocol):
    """A thread that waits for a blocking call."""

    async def carry_out(self, function: Callable[[], T]) -> T:
        """What the function returns or raises in that thread."""
        ...


CALLER: ContextVar[Caller | None] = ContextVar("holdfast_caller", default=None)


async def answered(callback: Callable[..., Any], *args: Any) -> Any:
    """What a callback returns. A coroutine function is awaited."""
    caller = CALLER.get()
    answer = callback(*args) if caller is None else await caller.carry_out(lambda: callback(*args))
    return await answer if inspect.isawaitable(answer) else answer


async def outside(function: Callable[..., T], *args: Any) -> T:
    """What a function of the application returns that may block: outside the event loop's thread."""
    caller = CALLER.get()
    if caller is None:
        return await asyncio.to_thread(function, *args)
    return await caller.carry_out(lambda: function(*args))

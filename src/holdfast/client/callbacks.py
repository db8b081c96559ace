"""Calls the application's callbacks, in a thread that depends on whether the client is blocking.

Under asyncio, callbacks run in the event loop's thread, and functions that can block run in a worker thread. The
blocking client runs all of the application's functions in the calling thread; there they are free to prompt a person or
to make further calls to the blocking client.
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
    """The thread that is waiting for a blocking call to return."""

    async def carry_out(self, function: Callable[[], T]) -> T:
        """Run the function in the waiting thread, and return its result or raise its exception."""
        ...


CALLER: ContextVar[Caller | None] = ContextVar("holdfast_caller", default=None)


async def answered(callback: Callable[..., Any] | None, *args: Any) -> Any:
    """Call a callback and return its result, awaiting it if it is awaitable. Return None without a callback."""
    if callback is None:
        return None
    caller = CALLER.get()
    answer = callback(*args) if caller is None else await caller.carry_out(lambda: callback(*args))
    return await answer if inspect.isawaitable(answer) else answer


async def outside(function: Callable[..., T], *args: object) -> T:
    """Run an application function, which may block, outside the event loop's thread, and return its result."""
    caller = CALLER.get()
    if caller is None:
        return await asyncio.to_thread(function, *args)
    return await caller.carry_out(lambda: function(*args))

"""The event loop that all blocking classes share: one per process, in a daemon thread that starts on first use."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from holdfast.client.callbacks import CALLER

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")

_starting = threading.Lock()
_running: asyncio.AbstractEventLoop | None = None


def run(coroutine: Coroutine[object, Any, T]) -> T:
    """Run the coroutine and return its result. Meanwhile the application's callbacks run in the calling thread.

    KeyboardInterrupt in the calling thread cancels the coroutine and is raised after it has ended.

    Raises:
        RuntimeError: called in the loop's own thread, which would wait for itself.
    """
    loop = _loop()
    if loop is _loop_of_this_thread():
        coroutine.close()
        raise RuntimeError("a blocking call inside a coroutine of the blocking client: use the asynchronous classes")
    return _Call(loop, coroutine).result()


def existing(given: T | None, asynchronous: object) -> T:
    """Return the blocking object if an asynchronous one exists; asking for the latter raises otherwise."""
    assert given is not None, asynchronous
    return given


class _Call(Generic[T]):
    """One coroutine in the loop and the thread that waits for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[object, Any, T]) -> None:
        self._loop, self._coroutine = loop, coroutine
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()  # None: the coroutine has ended
        self._interruption: BaseException | None = None

    def result(self) -> T:
        """Run callbacks until the coroutine has ended, then return its result."""
        self._loop.call_soon_threadsafe(self._start)
        try:
            while (work := self._work.get()) is not None:
                work()
        except BaseException:
            self._loop.call_soon_threadsafe(self._cancel)
            while self._work.get() is not None:
                pass  # callbacks that are still queued are dropped: their coroutine is being cancelled
            raise
        if self._interruption is not None:
            raise self._interruption
        return self._task.result()

    async def carry_out(self, function: Callable[[], Any]) -> Any:
        """See holdfast.client.callbacks.Caller."""
        future: Future[Any] = Future()
        self._work.put(lambda: _fulfil(future, function))
        return await asyncio.wrap_future(future)

    def _start(self) -> None:
        self._task: asyncio.Task[T] = self._loop.create_task(self._contained())
        self._task.add_done_callback(lambda _task: self._work.put(None))

    def _cancel(self) -> None:
        self._task.cancel()

    async def _contained(self) -> T:
        CALLER.set(self)
        try:
            return await self._coroutine
        except (KeyboardInterrupt, SystemExit) as interruption:
            self._interruption = interruption  # an exception raised by a task would end the loop for all threads
            raise asyncio.CancelledError from interruption


def _fulfil(future: Future[Any], function: Callable[[], Any]) -> None:
    try:
        future.set_result(function())
    except BaseException as error:  # noqa: BLE001 - raised where the coroutine waits for the callback
        future.set_exception(error)


def _loop() -> asyncio.AbstractEventLoop:
    global _running  # noqa: PLW0603 - one loop per process is intended
    with _starting:
        if _running is None:
            _running = asyncio.new_event_loop()
            threading.Thread(target=_running.run_forever, name="holdfast-blocking", daemon=True).start()
        return _running


def _loop_of_this_thread() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _forget() -> None:
    """Runs in a forked child: the loop's thread exists only in the parent."""
    global _running, _starting
    _running, _starting = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

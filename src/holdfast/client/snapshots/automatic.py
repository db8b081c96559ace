"""Uploads snapshots automatically a few seconds after the last change; retries with growing delays after failures."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from typing import TYPE_CHECKING

from holdfast.client.http.refusals import RequestRefused
from holdfast.wire.client_errors import ClientStateError, ServiceError
from holdfast.wire.retries import SNAPSHOTS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class AutomaticSnapshots:
    """Publishes `quiet_s` after the last change, and retries. `uses` returns how often uploads have used the vault.

    After a conflict or a rollback, it waits for the next change, because a person has to decide.
    """

    def __init__(
        self,
        publish: Callable[[], Awaitable[object]],
        *,
        quiet_s: float = SNAPSHOTS.quiet_s,
        uses: Callable[[], int] = lambda: 0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._publish, self._quiet_s, self._uses, self._sleep = publish, quiet_s, uses, sleep
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self.last_error: ServiceError | None = None

    def changed(self) -> None:
        """Record that the vault has a new revision. Call this method in the event loop's thread."""
        self._changed.set()
        self._begin()

    async def settle(self, within_s: float) -> bool:
        """Upload pending changes now, and return whether everything was uploaded. Waits at most `within_s` seconds.

        The retries go on after a failure.
        """
        if self._task is None:
            return True
        await self._stop()
        self._changed.clear()
        done = False
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    done = await self._attempt()
        finally:
            if not done and not _is_lasting(self.last_error):
                self._begin(failures=1)
        return done

    async def close(self) -> None:
        """Stop for good. The next client uploads the changes that are still pending."""
        self._closed = True
        await self._stop()

    def _begin(self, failures: int = 0) -> None:
        """Begin to upload in an empty context: this outlives the call, so it must not refer to the caller's thread."""
        if not self._closed and (self._task is None or self._task.done()):
            loop, context = asyncio.get_running_loop(), contextvars.Context()
            self._task = loop.create_task(self._run(failures), context=context)

    async def _run(self, failures: int) -> None:
        while self._changed.is_set() or failures:
            if not self._changed.is_set():
                await self._unchanged(min(SNAPSHOTS.longest_s, SNAPSHOTS.first_s * 2.0 ** min(failures - 1, 30)))
            if self._changed.is_set():
                await self._quiet()
            self._changed.clear()
            before = self._uses()
            failures = 0 if await self._attempt() else failures + 1
            used = isinstance(self.last_error, RequestRefused) or self._uses() != before
            if _is_lasting(self.last_error) or (used and failures > SNAPSHOTS.most_uses):
                failures = 0

    async def _unchanged(self, seconds: float) -> None:
        """Wait for so long, or until something has changed."""
        waiting = [asyncio.ensure_future(self._sleep(seconds)), asyncio.ensure_future(self._changed.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for it in waiting:
                it.cancel()

    async def _quiet(self) -> None:
        """Wait until nothing has changed for the quiet period, but no longer than the longest wait."""
        waited = 0.0
        while self._changed.is_set() and waited < SNAPSHOTS.longest_quiet_s:
            self._changed.clear()
            await self._sleep(self._quiet_s)
            waited += self._quiet_s

    async def _attempt(self) -> bool:
        """Publish, and return False if publishing must be retried; a closed or locked vault needs no retry."""
        self.last_error = None
        try:
            await self._publish()
        except ClientStateError:
            return True
        except ServiceError as error:
            self.last_error = error
            return False
        return True

    async def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


def _is_lasting(error: ServiceError | None) -> bool:
    status = str(error.status) if isinstance(error, RequestRefused) else ""
    return error is not None and not {type(error).__name__, status}.isdisjoint(SNAPSHOTS.final)

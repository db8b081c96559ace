"""The enclave for asyncio: each instance has its own thread, in which its calls run instead of in the event loop."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from holdfast.enclave.host import Enclave
from holdfast.wire.client_errors import PluginCallError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")


class AsyncEnclave:
    """One instance with awaitable calls.

    Create an instance with `await AsyncEnclave.start()`, and close it with `aclose`.
    """

    def __init__(self, enclave: Enclave, executor: ThreadPoolExecutor) -> None:
        self._enclave, self._executor, self._closed = enclave, executor, False
        self._process = os.getpid()

    @classmethod
    async def start(cls, path: Path | None = None) -> Self:
        """Return a new instance, which is loaded in a thread other than the event loop's.

        Raises WasmLoadError, as `Enclave` does.
        """
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="enclave")
        loop = asyncio.get_running_loop()
        try:
            return cls(await loop.run_in_executor(executor, partial(Enclave, path)), executor)
        except BaseException:
            executor.shutdown(wait=False)
            raise

    @property
    def enclave(self) -> Enclave:
        """The blocking `Enclave`, for code that runs in threads."""
        return self._enclave

    async def call(self, function: str, /, **fields: object) -> dict[str, object]:
        """As `Enclave.call`. If the calling task is cancelled, the call is still completed."""
        return await self._off_loop(function, partial(self._enclave.call, function, **fields))

    async def call_as(self, kind: type[T], function: str, /, **fields: object) -> T:
        """As `Enclave.call_as`."""
        return await self._off_loop(function, partial(self._enclave.call_as, kind, function, **fields))

    async def together(self, work: Callable[..., T], *given: object) -> T:
        """Run `work(call, *given)`, which makes several calls, without allowing other calls between them."""
        return await self._off_loop(getattr(work, "__name__", "work"), partial(work, self._enclave.call, *given))

    async def aclose(self) -> None:
        """Discard the instance and its thread once all earlier calls have finished. Repeated calls have no effect."""
        if self._closed:
            return
        self._closed = True
        if self._process != os.getpid():
            return
        closing = self._executor.submit(self._enclave.close)
        self._executor.shutdown(wait=False)  # even if this task is cancelled, the close above is queued
        await asyncio.wrap_future(closing)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _off_loop(self, function: str, work: Callable[[], T]) -> T:
        if self._closed:
            raise PluginCallError(function, "closed")
        if self._process != os.getpid():  # after a fork instance and thread belong to the parent
            raise PluginCallError(function, "left to the process that made it")
        result: T = await asyncio.get_running_loop().run_in_executor(self._executor, work)
        return result

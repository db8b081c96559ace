"""A pipe that granian reads as if it were a file.

granian keeps all parts of an RSGI stream that the client has not read, without limit; but it reads a file only as fast
as the client does, and so a pipe says how much has been taken.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.service.http.large_responses import Slot


OPENED_WITHIN_S = 10.0
# Linux's own names of descriptors: a container with few devices may lack /dev/fd.
_FOLDER = "/proc/self/fd" if Path("/proc/self/fd").is_dir() else "/dev/fd"


class Pipe:
    """One body on its way, of more than `part_bytes`. Close it in any case."""

    def __init__(self, part_bytes: int) -> None:
        """Raises OSError if the process has no descriptor left."""
        self._reader: int | None
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        if hasattr(fcntl, "F_SETPIPE_SZ"):  # a pipe that took the whole body would not say when granian has opened it
            with suppress(OSError):  # for a user with very many pipes the kernel makes them smaller, which serves too
                fcntl.fcntl(self._writer, fcntl.F_SETPIPE_SZ, part_bytes)
        self.path = f"{_FOLDER}/{self._reader}"

    async def write(self, data: bytes | bytearray, slot: Slot) -> None:
        """Hand over all bytes. Raises TimeoutError at the slot's limit, BrokenPipeError if the client is gone."""
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(self._writer, left) :]
            except BlockingIOError:
                async with slot.part():
                    await self._writable()
                self._close_reader()

    def close(self) -> None:
        """End the body where it is.

        A body that failed at once is closed before granian has opened its path. The path's number must not belong to
        another file by then, which granian would send.
        """
        os.close(self._writer)
        if self._reader is not None:
            asyncio.get_running_loop().call_later(OPENED_WITHIN_S, self._close_reader)

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_writer(self._writer, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_writer(self._writer)

    def _close_reader(self) -> None:
        """Leave the reading end to granian, which has opened it: then its end is noticed here."""
        if self._reader is not None:
            with suppress(OSError):
                os.close(self._reader)
            self._reader = None

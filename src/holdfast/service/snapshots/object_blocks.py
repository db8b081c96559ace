"""Stores blocks as objects in a bucket or as files in a folder, using obstore."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from holdfast.content.cids import MAX_BLOCK_BYTES
from holdfast.rules.limits import PROXY_TIMEOUT_S
from holdfast.service.object_folder import opened, parse_folder, storage_words
from holdfast.service.snapshots.page_cache import read_cached
from holdfast.service.snapshots.port import BlocksFull, BlocksUnavailable
from holdfast.service.telemetry.calls import calling
from holdfast.wire.file_errors import NO_ROOM

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence

    from obstore.store import ObjectStore

SETTING = "HOLDFAST_SNAPSHOTS_URL"
TRANSFER_S = 120.0
READ_S = PROXY_TIMEOUT_S  # a process that stops waits a little longer for its requests
_THREADS = 32
_LISTED = 1000
_TOO_SLOW = "the storage of snapshots did not answer in time"
_CHECK = "check"  # cannot be a block's name, because those begin with a CID
_NO_ROOM = ("os error 28)", "os error 122)", "os error 27)")  # ENOSPC, EDQUOT, EFBIG as Rust writes them


class ObjectBlocks:
    """Implements BlockStorage.

    Files in a folder are flushed to the disk explicitly: unlike object storage, a file system acknowledges a write
    before it is durable. Files are also read without obstore.
    """

    def __init__(self, url: str, *, read_s: float = READ_S, transfer_s: float = TRANSFER_S) -> None:
        """Allow `read_s` for a read and `transfer_s` for anything else.

        Raises ValueError for a URL of another form, without repeating it.
        """
        self._read_s = read_s
        self._transfer_s = transfer_s
        self._location = parse_folder(SETTING, url)
        self._folder = Path(unquote(urlsplit(url).path)) if self._location.scheme == "file" else None
        self._store: ObjectStore | None = None
        # The threads mostly wait for a disk flush or a bucket; the disk combines simultaneous flushes.
        self._threads = ThreadPoolExecutor(_THREADS, "blocks")

    @property
    def folder(self) -> Path | None:
        """The local folder that contains the blocks; None for a bucket."""
        return self._folder

    @property
    def is_remote(self) -> bool:
        """See BlockStorage."""
        return self._folder is None

    async def put_all(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        """See BlockStorage."""
        ended = threading.Event()
        try:
            await self._in_thread(self._put_all, _until(ended, blocks))
        finally:
            ended.set()

    async def get(self, name: str) -> bytes | None:
        """See BlockStorage."""
        (found,) = await self.get_all([name])
        return found

    async def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        """See BlockStorage."""
        found: list[bytes | None] = await self._in_thread(
            lambda: [self._get(name) for name in names], limit_s=self._read_s
        )
        return found

    def fill(self, name: str, into: memoryview) -> bool:
        """See BlockStorage."""
        return self._folder is not None and read_cached(f"{self._folder}/{name}", into)

    async def delete(self, names: Sequence[str]) -> None:
        """See BlockStorage. Each deletion has its own time limit, or a slow bucket would never be through with many."""
        for name in names:
            await self._in_thread(self._delete, name)

    async def names(self) -> AsyncIterator[Sequence[str]]:
        """See BlockStorage."""
        listed, last = await self._in_thread(self._listed), None
        while (part := await self._next_of(listed)) is not None:
            if part == last:
                raise BlocksUnavailable("the storage of snapshots lists the same objects again and again")
            yield part
            last = part

    async def check(self) -> None:
        """See BlockStorage."""
        name = f"{_CHECK}-{os.urandom(6).hex()}"
        await self.put_all([(name, b"holdfast")])
        found = await self.get(name)
        await self.delete([name])
        if found != b"holdfast":
            raise BlocksUnavailable("the storage of snapshots gives back other bytes than were written")

    async def _in_thread(self, work: Callable[..., Any], *given: Any, limit_s: float | None = None) -> Any:
        try:
            with calling("snapshots"):
                async with asyncio.timeout(limit_s or self._transfer_s):
                    return await asyncio.get_running_loop().run_in_executor(self._threads, _translated, work, *given)
        except TimeoutError:
            raise BlocksUnavailable(_TOO_SLOW) from None

    async def _next_of(self, listed: Any) -> Sequence[str] | None:
        """Return the next part of a listing. Only awaited, and not in a thread, is an endless one left off."""
        from obstore.exceptions import BaseError

        try:
            with calling("snapshots"):
                async with asyncio.timeout(self._transfer_s):
                    part = await anext(listed, None)
        except TimeoutError:
            raise BlocksUnavailable(_TOO_SLOW) from None
        except (BaseError, OSError) as error:
            raise _named(error) from None
        return None if part is None else [str(entry["path"]).rpartition("/")[2] for entry in part]

    def _opened(self) -> ObjectStore:
        if self._folder is not None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._store is None:
            self._store = opened(self._location, make=True)
        return self._store

    def _put_all(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        import obstore  # slow to import, and only uploads need it

        store, names = self._opened(), []
        for name, data in blocks:
            obstore.put(store, name, data, use_multipart=False)
            names.append(name)
        if self._folder is not None:
            _flush(self._folder, names)

    def _get(self, name: str) -> bytes | None:
        if self._folder is not None:
            return _read(self._folder / name)
        import obstore

        try:
            found = obstore.get(self._opened(), name)
            return bytes(found.bytes()) if found.meta["size"] <= MAX_BLOCK_BYTES else None
        except FileNotFoundError:
            return None

    def _listed(self) -> Any:
        import obstore

        return obstore.list(self._opened(), chunk_size=_LISTED)

    def _delete(self, name: str) -> None:
        if self._folder is not None:
            (self._folder / name).unlink(missing_ok=True)
            return
        import obstore

        with suppress(FileNotFoundError):
            obstore.delete(self._opened(), name)


def _until(ended: threading.Event, blocks: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield the blocks, but none once the upload has ended: its names are given up, so nothing would delete them."""
    for block in blocks:
        if ended.is_set():
            return
        yield block


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _flush(folder: Path, names: Sequence[str]) -> None:
    """Flush the contents of each file to the disk, then the folder's directory entries."""
    for path in (*(folder / name for name in names), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _translated(work: Callable[..., Any], *given: Any) -> Any:
    """Return what `work` returns. Storage errors become the port's errors, without the URLs that they quote."""
    from obstore.exceptions import BaseError

    try:
        return work(*given)
    except (BaseError, OSError) as error:
        raise _named(error) from None


def _named(error: Exception) -> BlocksUnavailable:
    """Return the port's exception for an error of the storage."""
    if any(sign in str(error) for sign in _NO_ROOM) or getattr(error, "errno", None) in NO_ROOM:
        return BlocksFull("the storage of snapshots has no room left")
    return BlocksUnavailable(f"the storage of snapshots failed: {storage_words(error)}")

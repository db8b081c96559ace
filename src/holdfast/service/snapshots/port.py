"""The BlockStorage port, which stores bytes under names. The snapshot index knows which block each name belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence


class BlocksUnavailable(Exception):
    """The storage cannot be reached or does not respond in time."""


class BlocksFull(BlocksUnavailable):
    """The storage is full."""


class BlockStorage(Protocol):
    """Stores objects. Every method but `fill` raises BlocksUnavailable."""

    @property
    def is_remote(self) -> bool:
        """Whether another server stores the objects, which may return other bytes than were stored."""
        ...

    async def put_all(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        """Store these objects (name, bytes). Once this method has returned, the objects survive a power cut.

        Raises BlocksFull.

        The iterable is consumed in a thread, one object at a time. After an error no further object is stored.
        """
        ...

    async def get(self, name: str) -> bytes | None:
        """Return an object's bytes; None if it does not exist."""
        ...

    async def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        """Return the bytes of several small objects, in the order given; None for each that does not exist."""
        ...

    def fill(self, name: str, into: memoryview) -> bool:
        """Write an object's bytes into `into` and return True, if this is possible without waiting.

        False means that only `get` can read the object, that it does not exist, or that it has a different size. Then
        the content of `into` is undefined.
        """
        ...

    async def delete(self, names: Sequence[str]) -> None:
        """Delete these objects; missing objects are ignored."""
        ...

    def names(self) -> AsyncIterator[Sequence[str]]:
        """Yield the names of all objects, in parts and in no particular order."""
        ...

    async def check(self) -> None:
        """Write an object, read it back and delete it."""
        ...

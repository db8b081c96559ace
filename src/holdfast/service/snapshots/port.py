"""The BlockStorage port: bytes stored under names. The index knows what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence


class BlocksUnavailable(Exception):
    """The storage cannot be reached or does not respond in time."""


class BlocksFull(BlocksUnavailable):
    """The storage is full."""


class BlockStorage(Protocol):
    """Every method but `fill` raises BlocksUnavailable."""

    async def put_all(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        """Store these objects (name, bytes). When this returns, they survive a power cut. Raises BlocksFull.

        The iterable is consumed in a thread, one object at a time.
        """
        ...

    async def get(self, name: str) -> bytes | None:
        """Return an object's bytes; None if it does not exist."""
        ...

    async def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        """As `get`, for several small objects at once, in their order."""
        ...

    def fill(self, name: str, into: memoryview) -> bool:
        """Write an object's bytes into `into` if that needs no waiting; if False, `get` says more.

        It is False for an object that does not exist or has another size too, and then leaves anything in `into`.
        """
        ...

    async def delete(self, names: Sequence[str]) -> None:
        """Delete these objects; missing ones count as deleted."""
        ...

    def names(self) -> AsyncIterator[Sequence[str]]:
        """Yield the names of all objects, in parts and in no particular order."""
        ...

    async def check(self) -> None:
        """Write an object, read it back and delete it."""
        ...

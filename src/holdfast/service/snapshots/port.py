"""The BlockStorage port: bytes under names. What they mean is the index's business."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence


class BlocksUnavailable(Exception):
    """The storage cannot be reached or does not answer in time."""


class BlocksFull(BlocksUnavailable):
    """The storage has no room."""


class BlockStorage(Protocol):
    """Every method but `fill` raises BlocksUnavailable."""

    async def put_all(self, blocks: Iterable[tuple[str, bytes]]) -> None:
        """Keep these objects (name, bytes); when it returns, they survive a power cut. Raises BlocksFull.

        The iterable is consumed in a thread, one object at a time.
        """
        ...

    async def get(self, name: str) -> bytes | None:
        """An object's bytes; None if it does not exist."""
        ...

    async def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        """As `get`, of several small objects at once, in their order."""
        ...

    def fill(self, name: str, into: memoryview) -> bool:
        """Write an object's bytes into `into` if that needs no waiting; if False, `get` says more.

        It is False for an object that does not exist or has another size too, and then leaves anything in `into`.
        """
        ...

    async def delete(self, names: Sequence[str]) -> None:
        """Remove these objects; those that are not there count as removed."""
        ...

    def names(self) -> AsyncIterator[Sequence[str]]:
        """The names of all objects, in parts and in no order."""
        ...

    async def check(self) -> None:
        """Write an object, read it back and remove it."""
        ...

"""Stands for a store that could not be opened, so that `holdfast check` can report everything else."""

from __future__ import annotations

from typing import Any


class UnopenedStore:
    """Each method raises the error with which the store could not be opened.

    Attributes:
        why: that error.
    """

    def __init__(self, why: Exception) -> None:
        self.why = why

    @property
    def snapshots(self) -> UnopenedStore:
        """See Store."""
        return self

    @property
    def recoveries(self) -> UnopenedStore:
        """See Store."""
        return self

    @property
    def administration(self) -> UnopenedStore:
        """See Store."""
        return self

    @property
    def outbox(self) -> UnopenedStore:
        """See Store."""
        return self

    @property
    def sponsorships(self) -> UnopenedStore:
        """See Store."""
        return self

    async def close(self) -> None:
        """See Store."""

    def __getattr__(self, _name: str) -> Any:
        async def fail(*_arguments: Any, **_more: Any) -> Any:
            raise self.why

        return fail

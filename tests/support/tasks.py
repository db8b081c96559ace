"""The tasks of the running event loop."""

import asyncio
from collections.abc import Set as AbstractSet
from typing import Any


async def all_others(but: AbstractSet["asyncio.Task[Any]"] = frozenset()) -> None:
    """Wait until every task has ended but the calling one and those of `but`, which may never end."""
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()} - but)

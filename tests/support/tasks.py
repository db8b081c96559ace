"""The tasks of the running event loop."""

import asyncio


async def all_others() -> None:
    """Wait until every task but the calling one has ended."""
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})

"""The event loop that providers are proved on."""

from __future__ import annotations

import uvloop


def pytest_asyncio_loop_factories(config, item):
    """As the service runs."""
    return {"uvloop": uvloop.new_event_loop}

"""Serves the index with granian in this process, so that no child process can outlive it."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from typing import TYPE_CHECKING

from granian.constants import Interfaces
from granian.server.embed import Server

from holdfast.indexer.asgi import IndexerApp
from holdfast.indexer.runtime import build
from holdfast.wire.logs import configure

if TYPE_CHECKING:
    from holdfast.indexer.settings import IndexerSettings

log = logging.getLogger("holdfast.indexer")

_ENDING = (signal.SIGINT, signal.SIGTERM)


async def serve(settings: IndexerSettings) -> None:
    """Follow the chain and serve until SIGINT or SIGTERM. Raises OSError if it cannot listen on the address."""
    host, port = settings.host, settings.port
    _check_free(host, port)
    app = IndexerApp(lambda: build(settings))
    # The application is started and stopped here, not by lifespan events, so that a failed start ends the command.
    server = Server(app, host, port, interface=Interfaces.ASGINL, websockets=False, log_enabled=False)
    loop = asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, server.stop)
    try:
        await app.started()
        log.info("indexer: listening on http://%s:%d", host, port)
        await server.serve()
    finally:
        await app.stop()
        log.info("indexer: stopped")


def _check_free(host: str, port: int) -> None:
    """Raise the system's own OSError if the address is not free; granian would not say what failed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    socket.create_server((host, port), family=family).close()


def configure_logs(form: str, level: str = "info") -> None:
    """Configure logging as the service does, without exception messages, because these may quote URLs with keys."""
    configure(form, level)

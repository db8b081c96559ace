"""Runs the service on its own server, granian or uvicorn, in one process or several, until told to stop."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from holdfast.rules.limits import BACKLOG, PROXY_TIMEOUT_S

if TYPE_CHECKING:
    from holdfast.service.settings import Settings
    from holdfast.service.web.application import Application
    from holdfast.service.web.asgi import AsgiEntry
    from holdfast.service.web.rsgi import RsgiEntry

HEADER_TIMEOUT_MS = 15_000
STOP_WITHIN_S = int(PROXY_TIMEOUT_S) + 5  # the longest that an accepted request may take, and a little
GARBAGE_THRESHOLD = 20_000  # objects; the default of 700 is reached every few requests


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; requests that were accepted are answered first."""
    run = {"builtin": _serve_builtin, "granian": _serve_granian, "uvicorn": _serve_uvicorn}[settings.server]
    if not settings.admin_port:
        run(settings)
        return
    from holdfast.service import metrics

    with metrics.shared_directory():
        metrics.serve(settings.host, settings.admin_port)
        run(settings)


def rsgi_application() -> RsgiEntry:
    """What a granian worker loads."""
    from holdfast.service.web.rsgi import RsgiEntry

    return RsgiEntry(application())


def asgi_application() -> AsgiEntry:
    """What uvicorn, or any ASGI server, loads."""
    from holdfast.service.web.asgi import AsgiEntry

    return AsgiEntry(application())


def application() -> Application:
    """The application as the environment describes it, its metrics and logs set up."""
    from holdfast.service.bootstrap import build_application
    from holdfast.service.secrets import read_secrets
    from holdfast.service.settings import read_settings
    from holdfast.wire import logs

    settings = read_settings()
    logs.configure(settings.log)
    measured = None
    if settings.admin_port:
        from holdfast.service.metrics import Metrics

        measured = Metrics()
    built = build_application(settings, read_secrets(settings), measured)
    # What was made so far lives as long as the process: looking through it again and again frees nothing.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD, 20, 20)
    return built


def needs_raw_paths(settings: Settings) -> bool:
    """Whether paths must arrive as they were sent.

    The indexer proxy refuses encoded slashes, which RSGI's decoded paths no longer show; so the faster RSGI entry is
    used only where there is no indexer to protect.
    """
    return bool(settings.indexer_app or settings.indexer_url)


def _serve_builtin(settings: Settings) -> None:
    from holdfast.service.http_server.process import listening_sockets, run

    sockets = listening_sockets(settings.host, settings.port)
    if settings.workers == 1:
        run(application, sockets, STOP_WITHIN_S)
        return
    import asyncio

    from holdfast.service.http_server.supervisor import Supervisor
    from holdfast.wire import logs

    logs.configure(settings.log)

    async def supervise() -> bool:
        return await Supervisor(sockets, settings.workers, STOP_WITHIN_S + 5).run()

    if not asyncio.run(supervise()):
        sys.exit(1)


def _serve_granian(settings: Settings) -> None:
    from granian.constants import Interfaces
    from granian.http import HTTP1Settings
    from granian.server import Server

    asgi = needs_raw_paths(settings)
    server = Server(
        f"holdfast.service.serve:{'asgi' if asgi else 'rsgi'}_application",
        address=settings.host,
        port=settings.port,
        interface=Interfaces.ASGI if asgi else Interfaces.RSGI,
        workers=settings.workers,
        websockets=False,
        backlog=BACKLOG,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_TIMEOUT_MS),
        workers_kill_timeout=STOP_WITHIN_S,
        respawn_failed_workers=True,
        log_enabled=False,
        factory=True,
    )
    # SIGHUP means "read the reserved list again", not "start the workers anew".
    server.signal_handler_reload = lambda *_: _pass_on(server, signal.SIGHUP)  # type: ignore[method-assign]  # its only hook
    server.serve()
    if server.interrupt_children and not server.interrupt_signal:
        sys.exit(1)


def _pass_on(server: Any, number: signal.Signals) -> None:
    for worker in server.wrks:
        if worker.inner.pid is not None:
            os.kill(worker.inner.pid, number)


def _serve_uvicorn(settings: Settings) -> None:
    try:
        import uvicorn
    except ImportError:
        sys.stderr.write("holdfast: HOLDFAST_SERVER=uvicorn needs the extra: pip install 'holdfast[uvicorn]'\n")
        sys.exit(3)
    if settings.workers > 1:
        # uvicorn's own supervisor restarts its workers on SIGHUP; ours re-reads a list, so granian has the workers.
        sys.stderr.write("holdfast: several processes need HOLDFAST_SERVER=granian\n")
        sys.exit(3)
    # uvicorn raises the signal that ended it once more when all is done: that is a clean end, not a death by signal.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    uvicorn.run(
        "holdfast.service.serve:asgi_application",
        factory=True,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http="httptools",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=STOP_WITHIN_S,
    )

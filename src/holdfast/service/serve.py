"""Runs the service on granian or uvicorn until it is stopped."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from holdfast.rules.limits import (
    BACKLOG,
    CONNECTION_BUFFER_BYTES,
    MAX_HTTP2_HEAD_BYTES,
    MAX_STREAMS,
    PROXY_TIMEOUT_S,
    STREAM_BUFFER_BYTES,
)

if TYPE_CHECKING:
    from types import FrameType

    from holdfast.service.http.connections import Activity
    from holdfast.service.settings.values import Settings
    from holdfast.service.web.application import Application
    from holdfast.service.web.asgi import AsgiEntry
    from holdfast.service.web.rsgi import RsgiEntry

STOP_WITHIN_S = int(PROXY_TIMEOUT_S) + 5  # slightly more than the longest duration of an accepted request
# libuv looks up host names on half of its threads, by default on two: look-ups that no name server answers would
# delay those of all other upstreams and of the database.
LOOKUP_THREADS = 64
GARBAGE_THRESHOLD = 20_000  # objects; the default of 700 is reached every few requests


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM. Accepted requests are completed first."""
    os.environ.setdefault("UV_THREADPOOL_SIZE", str(LOOKUP_THREADS))
    run = {"granian": _serve_granian, "uvicorn": _serve_uvicorn}[settings.server]
    if not settings.admin_port:
        run(settings)
        return
    from holdfast.service.telemetry.admin import serve_admin
    from holdfast.service.telemetry.metrics_folder import metrics_folder
    from holdfast.service.telemetry.reporting import FOLDER_VARIABLE

    with metrics_folder() as folder:
        os.environ[FOLDER_VARIABLE] = str(folder)
        serve_admin(settings.host, settings.admin_port, folder)
        run(settings)


def rsgi_application() -> RsgiEntry:
    """Return the application that a granian worker loads."""
    from holdfast.service.web.rsgi import RsgiEntry

    built, activity = application()
    return RsgiEntry(built, activity)


def asgi_application() -> AsgiEntry:
    """Return the application that uvicorn or any other ASGI server loads."""
    from holdfast.service.web.asgi import AsgiEntry

    built, activity = application()
    return AsgiEntry(built, activity)


def application() -> tuple[Application, Activity | None]:
    """Return the application for the environment's settings, and begin to watch its connections.

    Sets up logs, metrics and traces. Where the server does not end all
    idle connections, the requests of each connection must be noted in the activity.
    """
    from holdfast.service.bootstrap.applications import build_application, connection_keeper
    from holdfast.service.http import own_sockets
    from holdfast.service.http.connections import Activity
    from holdfast.service.http.worker_signals import STOPPING, end_with_parent
    from holdfast.service.settings.secrets import read_secrets
    from holdfast.service.settings.values import read_settings
    from holdfast.service.telemetry.reporting import prepare_telemetry
    from holdfast.wire import logs

    end_with_parent()
    settings = read_settings()
    STOPPING.delay_s = settings.stop_delay
    logs.configure(settings.log, settings.log_level)
    prepare_telemetry(os.environ)
    built = build_application(settings, read_secrets(settings))
    # The existing objects live as long as the process, so the garbage collector need not examine them again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD, 20, 20)
    # granian ends idle connections itself, though only those of HTTP/1.1, the only protocol that it serves without TLS.
    watched = bool(settings.tls_cert) or settings.server != "granian"
    activity = Activity() if watched and own_sockets.can_watch() else None
    connection_keeper(settings, activity).start()
    return built, activity


def needs_raw_paths(settings: Settings) -> bool:
    """Return whether the service needs request paths with their percent-encoding intact.

    The indexer proxy refuses encoded slashes, which are invisible in RSGI's decoded paths. The faster RSGI entry point
    is therefore used only without an indexer.
    """
    return bool(settings.indexer_app or settings.indexer_url)


def _serve_granian(settings: Settings) -> None:
    from granian.server import Server

    from holdfast.service.http.worker_ends import notice_ends_of_workers
    from holdfast.service.http.worker_signals import hold_signals_of_workers, stop_is_success
    from holdfast.wire import logs

    logs.configure(settings.log, settings.log_level)
    # With logging disabled, granian raises its logger's level so high that it would not report a lost worker.
    server = Server(**granian_options(settings))
    logging.getLogger("_granian").setLevel(max(logging.WARNING, logging.getLogger().level))
    # SIGHUP only re-reads the list of reserved names; granian's own handler would restart the workers.
    server.signal_handler_reload = lambda *_: _pass_on(server, signal.SIGHUP)  # type: ignore[method-assign]  # its only hook
    hold_signals_of_workers()
    notice_ends_of_workers()
    stop_is_success(server)
    server.serve()
    if server.interrupt_children and not server.interrupt_signal:
        sys.exit(1)


def granian_options(settings: Settings) -> dict[str, Any]:
    """Return the arguments of granian's server for these settings."""
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings, HTTP2Settings

    asgi = needs_raw_paths(settings)
    return {
        "target": f"holdfast.service.serve:{'asgi' if asgi else 'rsgi'}_application",
        "factory": True,
        "interface": Interfaces.ASGI if asgi else Interfaces.RSGI,
        "address": settings.host,
        "port": settings.port,
        "workers": settings.workers,
        "websockets": False,
        "backlog": BACKLOG,
        # While a process has this many connections, granian accepts no more, and the kernel queues new ones.
        "backpressure": settings.max_connections,
        # Without TLS only HTTP/1.1 is served: while detecting HTTP/2, granian never closes a silent connection.
        "http": HTTPModes.auto if settings.tls_cert else HTTPModes.http1,
        "http1_settings": HTTP1Settings(
            header_read_timeout=settings.idle_timeout * 1000, max_buffer_size=CONNECTION_BUFFER_BYTES
        ),
        "http2_settings": HTTP2Settings(
            keep_alive_interval=settings.idle_timeout * 1000,
            initial_connection_window_size=CONNECTION_BUFFER_BYTES,
            initial_stream_window_size=CONNECTION_BUFFER_BYTES,
            max_concurrent_streams=MAX_STREAMS,
            max_headers_size=MAX_HTTP2_HEAD_BYTES,
            max_send_buffer_size=STREAM_BUFFER_BYTES,
        ),
        "ssl_cert": settings.tls_cert,
        "ssl_key": settings.tls_key,
        "workers_kill_timeout": STOP_WITHIN_S + settings.stop_delay,
        "respawn_failed_workers": True,
        "log_enabled": False,
    }


def _pass_on(server: Any, number: signal.Signals) -> None:
    for worker in server.wrks:
        if worker.inner.pid is not None:
            os.kill(worker.inner.pid, number)


def _serve_uvicorn(settings: Settings) -> None:
    try:
        import uvicorn
    except ImportError:
        from holdfast.wire.installing import install_command

        sys.stderr.write(f"holdfast: HOLDFAST_SERVER=uvicorn needs the extra: {install_command('uvicorn')}\n")
        sys.exit(3)
    if settings.workers > 1:
        # On SIGHUP, uvicorn's supervisor would restart its workers instead of re-reading the reserved names.
        sys.stderr.write("holdfast: several processes need HOLDFAST_SERVER=granian\n")
        sys.exit(3)

    from holdfast.service.http.worker_signals import STOPPING

    class Server(uvicorn.Server):
        """Goes on serving for `stop_delay` seconds when it is told to stop, as granian's workers do."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            STOPPING.begun = True
            threading.Timer(settings.stop_delay, super().handle_exit, (sig, frame)).start()

    # After its shutdown uvicorn raises the signal again; these handlers make the process exit normally with status 0.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    config = uvicorn.Config(
        "holdfast.service.serve:asgi_application",
        factory=True,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http="h11",  # httptools merges trailers into the headers and takes an upgrade's body for a request
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=settings.idle_timeout,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        timeout_graceful_shutdown=STOP_WITHIN_S,
    )
    Server(config).run()

"""holdfast serve."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import fail, note
from holdfast.cli.settings import (
    AsJson,
    EnvFile,
    secrets_or_fail,
    settings_or_fail,
    store_or_fail,
    tell_unknown_settings,
)

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def serve(
    env_file: EnvFile = None,
    host: Annotated[str | None, typer.Option(help="Instead of HOLDFAST_HOST.")] = None,
    port: Annotated[int | None, typer.Option(help="Instead of HOLDFAST_PORT; 0 takes a free one.")] = None,
    workers: Annotated[int | None, typer.Option(help="Instead of HOLDFAST_WORKERS.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run the service until it is stopped.

    SIGTERM and SIGINT stop the service after the requests that it has accepted. SIGHUP makes the service re-read the
    list of reserved handles. All other options are settings: see `holdfast config`.
    """
    import os
    import signal

    from holdfast.service.settings.values import warn_of_local_url

    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a signal before a handler is set must not end the start
    for name, value in (("HOST", host), ("PORT", port), ("WORKERS", workers)):
        if value is not None:
            os.environ[f"HOLDFAST_{name}"] = str(value)
    settings = settings_or_fail(env_file, as_json=as_json)
    if settings.port == 0:
        # The port is chosen once for all workers, and set in the environment, from which the workers read their
        # settings.
        os.environ["HOLDFAST_PORT"] = str(_bindable(settings.host, 0, "HOLDFAST_PORT", as_json=as_json))
        settings = settings_or_fail(env_file, as_json=as_json)
    tell_unknown_settings(as_json=as_json)
    if (warning := warn_of_local_url(settings)) is not None:
        note(f"HOLDFAST_PUBLIC_URL is {warning}", as_json=as_json)
    secrets = secrets_or_fail(settings, as_json=as_json)
    _prepare(settings, secrets, as_json=as_json)
    for wanted, name in ((settings.port, "HOLDFAST_PORT"), (settings.admin_port, "HOLDFAST_ADMIN_PORT")):
        if wanted:
            _bindable(settings.host, wanted, name, as_json=as_json)
    from holdfast.cli.banner import banner, facts

    address = f"{'https' if settings.tls_cert else 'http'}://{settings.host}:{settings.port}"
    text = json.dumps(facts(settings, secrets, address)) if as_json else banner(settings, secrets, address)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
    from holdfast.service.serve import serve as run

    run(settings)


def _prepare(settings: object, secrets: object, *, as_json: bool) -> None:
    """Report in one sentence what would stop all workers, such as a bad setting or a store that cannot be opened."""
    import asyncio

    from holdfast.service.bootstrap.applications import pages_of
    from holdfast.service.bootstrap.services import build_service
    from holdfast.service.settings.values import Settings
    from holdfast.settings.rows import SettingError
    from holdfast.wire import logs

    assert isinstance(settings, Settings)
    logs.configure(settings.log, settings.log_level)
    store = store_or_fail(settings, as_json=as_json, wait=True)
    try:
        pages_of(settings)
        build_service(settings, secrets, store)  # type: ignore[arg-type]  # secrets is Secrets, named by its own module
    except SettingError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    finally:
        asyncio.run(store.close())


def _bindable(host: str, port: int, setting: str, *, as_json: bool) -> int:
    """Return the port, or a free port if it is 0.

    If the port is in use, exit with 4 and a one-sentence message. Without this check, the server, which binds the port
    later, would fail with a traceback.
    """
    import socket

    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
            return int(trial.getsockname()[1])
    except OSError as error:
        remedy = f"set HOLDFAST_HOST to an address of this machine, and {setting} to a free port"
        fail(Exit.UNAVAILABLE, f"cannot listen on {host} port {port}: {error.strerror}; {remedy}", as_json=as_json)

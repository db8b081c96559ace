"""`holdfast indexer`: the index as a separate process."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import fail
from holdfast.cli.settings import AsJson, EnvFile, load_env_file, tell_unknown_settings

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def indexer(
    env_file: EnvFile = None,
    host: Annotated[str | None, typer.Option(help="Instead of HOLDFAST_INDEXER_HOST.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Instead of HOLDFAST_INDEXER_PORT.")] = None,
    as_json: AsJson = False,
) -> None:
    """Follow the registry and the factory, and serve /api/dids, /api/aliases, /api/accounts, /api/events.

    All other options are settings: see `holdfast config`. SIGTERM and SIGINT stop the indexer after the current
    requests.
    """
    import asyncio

    from holdfast.indexer.serving import configure_logs, serve
    from holdfast.indexer.settings import read_settings
    from holdfast.settings.rows import SettingError

    load_env_file(env_file, as_json=as_json)
    for name, value in (("HOST", host), ("PORT", port)):
        if value is not None:
            os.environ[f"HOLDFAST_INDEXER_{name}"] = str(value)
    try:
        settings = read_settings(os.environ)
    except SettingError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    tell_unknown_settings(as_json=as_json)
    configure_logs(settings.log, settings.log_level)
    try:
        asyncio.run(serve(settings))
    except OSError as error:
        where = f"{settings.host} port {settings.port}"
        remedy = "set HOLDFAST_INDEXER_HOST to an address of this machine, and HOLDFAST_INDEXER_PORT to a free port"
        fail(Exit.UNAVAILABLE, f"cannot listen on {where}: {error.strerror or error}; {remedy}", as_json=as_json)

"""`holdfast indexer`: the index as a process of its own."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import fail

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def indexer(
    host: str = typer.Option("127.0.0.1", envvar="HOLDFAST_INDEXER_HOST", help="Address to listen on."),
    port: int = typer.Option(8788, envvar="HOLDFAST_INDEXER_PORT", min=1, max=65535, help="Port to listen on."),
    env_file: Path | None = typer.Option(None, exists=True, dir_okay=False, help="File with settings."),  # noqa: B008 - typer's way
) -> None:
    """Follow the registry and the factory, and answer /api/dids, /api/aliases, /api/accounts, /api/events.

    Settings come from the environment (docs/indexer.md). SIGTERM and SIGINT end it after the requests in hand.
    """
    import asyncio

    from holdfast.indexer.serving import configure_logs, serve
    from holdfast.indexer.settings import SettingsError, read_settings

    environment = {**_values_of(env_file), **os.environ}
    try:
        settings = read_settings(environment)
    except SettingsError as error:
        fail(Exit.CONFIGURATION, str(error))
    configure_logs(environment.get("HOLDFAST_LOG", "auto"))
    try:
        asyncio.run(serve(settings, host, port))
    except OSError as error:
        fail(Exit.UNAVAILABLE, f"cannot listen on {host} port {port}: {error.strerror or error}")


def _values_of(env_file: Path | None) -> dict[str, str]:
    if env_file is None:
        return {}
    from dotenv import dotenv_values

    return {name: value for name, value in dotenv_values(env_file).items() if value is not None}

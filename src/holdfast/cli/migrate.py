"""holdfast migrate."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import (
    AsJson,
    EnvFile,
    database_or_fail,
    existing_database_or_fail,
    settings_or_fail,
    store_or_fail,
)

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.service.settings.values import Settings
    from holdfast.service.store.moving.move import MoveReport
    from holdfast.service.store.postgresql.address import Address

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def migrate(
    to: Annotated[
        str | None, typer.Option("--to", metavar="URL", help="Move to this PostgreSQL database: postgresql://…")
    ] = None,
    back: Annotated[bool, typer.Option("--back", help="Use the embedded database again after a move.")] = False,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Bring the database's schema up to date or, with --to, move everything from the embedded database to PostgreSQL.

    A move may begin while the service is running, and may be interrupted and repeated, because it copies only the
    differences. To finish, stop the service and run the command once more; it then compares every row's checksum.
    From then on no service starts on the embedded database, until --back allows it: what was stored in PostgreSQL
    since the move is not in it.
    """
    settings = settings_or_fail(env_file, as_json=as_json)
    if back:
        _take_back(settings, as_json=as_json)
    elif to is None:
        _schema(settings, as_json=as_json)
    else:
        _move(settings, to, as_json=as_json)


def _schema(settings: Settings, *, as_json: bool) -> None:
    from holdfast.wire import logs

    logs.configure(settings.log, settings.log_level)
    store = store_or_fail(settings, as_json=as_json, wait=True)
    asyncio.run(store.close())
    location = database_or_fail(settings, as_json=as_json).location
    emit({"database": location, "schema": "current"}, f"{location}: the schema is current", as_json=as_json)


def _move(settings: Settings, to: str, *, as_json: bool) -> None:
    from holdfast.service.store.database import SchemaTooNew
    from holdfast.service.store.moving.move import NotTheSame, move
    from holdfast.service.store.moving.source import bring_up_to_date
    from holdfast.service.store.port import StoreUnavailable
    from holdfast.service.store.postgresql.address import parse_address

    file = _embedded_or_fail(settings, as_json=as_json)
    try:
        address = parse_address(to)
    except ValueError as error:
        fail(Exit.USAGE, f"--to: {error}", as_json=as_json)
    if address.pooled:
        fail(Exit.USAGE, "--to: name the server itself: a move needs its session state", as_json=as_json)
    try:
        bring_up_to_date(file)
        report = asyncio.run(move(file, address, _show))
    except (StoreUnavailable, SchemaTooNew) as error:
        fail(Exit.UNAVAILABLE, f"the move stopped, and can be called again: {error}", as_json=as_json)
    except NotTheSame as error:
        fail(Exit.FAILED, f"after the move the databases differ: {error}; call it again", as_json=as_json)
    emit(asdict(report), _summary(report, file, address), as_json=as_json)


def _take_back(settings: Settings, *, as_json: bool) -> None:
    from holdfast.service.store.port import StoreUnavailable
    from holdfast.service.store.sqlite.moved import take_back

    file = _embedded_or_fail(settings, as_json=as_json)
    try:
        was_moved = take_back(file)
    except StoreUnavailable as error:
        fail(Exit.UNAVAILABLE, f"the database cannot be opened: {error}", as_json=as_json)
    text = (
        f"{file}: the service may start on it. What was stored in PostgreSQL since the move is not in it: let no"
        " service run there any more."
        if was_moved
        else f"{file} was not moved: nothing is changed"
    )
    emit({"database": str(file), "was_moved": was_moved}, text, as_json=as_json)


def _embedded_or_fail(settings: Settings, *, as_json: bool) -> Path:
    """Return the embedded database's file, or exit."""
    source = existing_database_or_fail(settings, as_json=as_json)
    if not source.files:
        fail(Exit.USAGE, f"{source.location} is not an embedded database: there is nothing to move", as_json=as_json)
    return source.files[0]


def _show(table: str, done: int, of: int) -> None:
    """Print progress on stderr, so that stdout contains only the result."""
    sys.stderr.write(f"{table}: {done} of {of}\n")


def _summary(report: MoveReport, file: Path, address: Address) -> str:
    rows = sum(report.rows.values())
    if not report.finished:
        return (
            f"{rows} rows copied as of the start of this call, {report.written} written; the service has {file} open."
            " Stop the service, and call this again to finish."
        )
    return (
        f"{rows} rows moved to {address.location}, {report.written} written by this call; counts and checksums agree."
        " Set HOLDFAST_DATABASE_URL to it and start the service."
    )

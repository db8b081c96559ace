"""holdfast backup, restore, export."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import confirm, emit, fail
from holdfast.cli.settings import AsJson, EnvFile, database_or_fail, existing_database_or_fail, settings_or_fail
from holdfast.wire.file_errors import file_words

backup_app = typer.Typer(add_completion=False, rich_markup_mode=None)
restore_app = typer.Typer(add_completion=False, rich_markup_mode=None)
export_app = typer.Typer(add_completion=False, rich_markup_mode=None)


@backup_app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file of the copy; it is replaced if it exists.")],
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Write a consistent copy of the database. The service may be running.

    The copy contains unencrypted identifiers and is readable only by you. Protect it as you protect the database.
    """
    from holdfast.service.store.port import StoreUnavailable

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: no part of a copy is left
    source = existing_database_or_fail(settings_or_fail(env_file, as_json=as_json), as_json=as_json)
    if file.exists() and any(file.samefile(own) for own in source.files):
        fail(Exit.USAGE, f"{file} is the database itself: name another file", as_json=as_json)
    if file.exists() and not (file.is_file() or file.is_dir()):  # the copy would take the place of the device
        fail(Exit.USAGE, f"{file} is a device: name a file", as_json=as_json)
    try:
        source.backup(file.absolute())
    except OSError as error:
        fail(Exit.UNAVAILABLE, f"{file} cannot be written: {file_words(error)}", as_json=as_json)
    except StoreUnavailable as error:
        fail(Exit.UNAVAILABLE, f"{source.location} cannot be copied: {error}", as_json=as_json)
    size = file.stat().st_size
    emit({"file": str(file), "bytes": size}, f"{file}: {size} bytes", as_json=as_json)


@restore_app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A copy made by `holdfast backup`.")],
    env_file: EnvFile = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before replacing a database.")] = False,
    as_json: AsJson = False,
) -> None:
    """Replace the database with a copy of it. The service must be stopped."""
    from holdfast.service.store.database import InUse, NotABackup, SchemaTooNew
    from holdfast.service.store.port import StoreUnavailable

    target = database_or_fail(settings_or_fail(env_file, as_json=as_json), as_json=as_json)
    if not file.exists():
        fail(Exit.NOT_FOUND, f"there is no file {file}", as_json=as_json)
    try:
        confirm(f"Replace {target.location}?", yes=yes or not target.exists(), as_json=as_json)
        target.restore(file)
    except (NotABackup, SchemaTooNew) as error:
        fail(Exit.FAILED, f"{file}: {error}", as_json=as_json)
    except InUse:
        fail(Exit.UNAVAILABLE, "the service is running: stop it, then restore", as_json=as_json)
    except (OSError, StoreUnavailable) as error:
        why = file_words(error) if isinstance(error, OSError) else error
        fail(Exit.UNAVAILABLE, f"the copy cannot be put at {target.location}: {why}", as_json=as_json)
    emit({"database": target.location}, f"restored to {target.location}", as_json=as_json)


@export_app.command()
def export(env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Print all rows of the database, as they were at one moment, as JSON lines."""
    from holdfast.service.store.port import StoreUnavailable

    source = existing_database_or_fail(settings_or_fail(env_file, as_json=as_json), as_json=as_json)
    try:
        for row in source.rows():
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
    except StoreUnavailable as error:
        fail(Exit.UNAVAILABLE, f"{source.location} cannot be read: {error}", as_json=as_json)

"""The first step of all commands for operators: reads the settings, and reports errors in them in plain words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import fail, note

if TYPE_CHECKING:
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.settings.values import Settings
    from holdfast.service.store.database import Database
    from holdfast.service.store.port import Store

EnvFile = Annotated[str | None, typer.Option("--env-file", metavar="FILE", help="Read settings from FILE first.")]
AsJson = Annotated[bool, typer.Option("--json", help="One line of JSON, for machines.")]


def load_env_file(file: str | None, *, as_json: bool = False) -> None:
    """Load the file's variables, with `$` as it stands. The environment's own take precedence."""
    if file is None:
        return
    from dotenv import dotenv_values  # imported only if a file is named

    if not os.path.isfile(file):  # noqa: PTH113 - a string from the command line
        fail(Exit.CONFIGURATION, f"--env-file: no such file: {file}", as_json=as_json)
    try:
        for name, value in dotenv_values(file, interpolate=False).items():
            os.environ.setdefault(name, value or "")
    except OSError as error:
        fail(Exit.CONFIGURATION, f"--env-file: {file}: {error.strerror}", as_json=as_json)
    except ValueError:  # not UTF-8, or a NUL in a value
        fail(Exit.CONFIGURATION, f"--env-file: {file} is not a file of NAME=value lines", as_json=as_json)


def settings_or_fail(file: str | None = None, *, as_json: bool = False) -> Settings:
    """Return the effective settings, or exit with 3 and a message that names the invalid setting and its remedy."""
    from holdfast.service.settings.values import read_settings
    from holdfast.settings.rows import SettingError

    load_env_file(file, as_json=as_json)
    try:
        return read_settings()
    except SettingError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)


def tell_unknown_settings(*, as_json: bool = False) -> None:
    """Write a line to standard error for each HOLDFAST_ variable that is not a setting; with HOLDFAST_STRICT, exit."""
    from holdfast.service.settings.unknown import unknown_settings

    unknown = unknown_settings(os.environ)
    if unknown and os.environ.get("HOLDFAST_STRICT") == "on":
        fail(Exit.CONFIGURATION, "; ".join(unknown), as_json=as_json)
    for sentence in unknown:
        note(sentence, as_json=as_json)


def secrets_or_fail(settings: Settings, *, as_json: bool = False) -> Secrets:
    """Return the signing keys, or exit with 3."""
    from holdfast.service.settings.data_folder import make_data_folder, unusable_folder
    from holdfast.service.settings.secrets import read_secrets
    from holdfast.settings.rows import SettingError

    try:
        make_data_folder(settings.data_dir)
        return read_secrets(settings)
    except SettingError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    except OSError as error:
        fail(Exit.CONFIGURATION, str(unusable_folder(settings.data_dir, error)), as_json=as_json)


def store_or_fail(settings: Settings, *, as_json: bool = False, wait: bool = False) -> Store:
    """Open and return the store, or exit with 4. With `wait`, keep trying for HOLDFAST_DATABASE_WAIT before exiting."""
    from holdfast.service.bootstrap.stores import open_store, open_store_when_reachable
    from holdfast.service.store.database import SchemaTooNew
    from holdfast.service.store.port import StoreUnavailable
    from holdfast.settings.rows import SettingError

    try:
        return open_store_when_reachable(settings) if wait else open_store(settings)
    except SettingError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)
    except (StoreUnavailable, SchemaTooNew) as error:
        fail(Exit.UNAVAILABLE, f"the database cannot be opened: {error}", as_json=as_json)


def database_or_fail(settings: Settings, *, as_json: bool = False) -> Database:
    """Return the database that the settings select, or exit with 3."""
    from holdfast.service.bootstrap.stores import database
    from holdfast.settings.rows import SettingError

    try:
        return database(settings)
    except SettingError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)


def existing_database_or_fail(settings: Settings, *, as_json: bool = False) -> Database:
    """Return the database as `database_or_fail` does, but exit with 5 if it does not exist, instead of creating it."""
    from holdfast.service.store.port import StoreUnavailable

    source = database_or_fail(settings, as_json=as_json)
    try:
        exists = source.exists()
    except StoreUnavailable as error:
        fail(Exit.UNAVAILABLE, f"the database cannot be opened: {error}", as_json=as_json)
    if not exists:
        fail(
            Exit.NOT_FOUND,
            f"there is no database at {source.location}: is HOLDFAST_DATA_DIR the service's?",
            as_json=as_json,
        )
    return source

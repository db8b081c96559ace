"""Opens the store that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.service.bootstrap.naming import named_setting
from holdfast.service.http.worker_signals import stop_is_held
from holdfast.service.settings.data_folder import make_data_folder
from holdfast.service.store.database import OtherChain
from holdfast.service.store.kinds import database_of
from holdfast.service.store.waiting import open_when_reachable
from holdfast.settings.rows import SettingError

if TYPE_CHECKING:
    from holdfast.service.settings.values import Settings
    from holdfast.service.store.database import Database
    from holdfast.service.store.port import Store


def database(settings: Settings) -> Database:
    """Return the database that HOLDFAST_DATABASE_URL names. Raises SettingError."""
    return named_setting("HOLDFAST_DATABASE_URL", database_of, settings.database_url)


def open_store(settings: Settings) -> Store:
    """Open the store that the database URL names. Raises SettingError, SchemaTooNew or StoreUnavailable."""
    make_data_folder(settings.data_dir)
    return database(settings).open()


def open_store_when_reachable(settings: Settings) -> Store:
    """Open the store to serve HOLDFAST_CHAIN, and wait up to HOLDFAST_DATABASE_WAIT seconds for the database server.

    Raises SettingError, also if the database belongs to another chain; SchemaTooNew or StoreUnavailable.
    """
    make_data_folder(settings.data_dir)
    try:
        return open_when_reachable(database(settings), settings.database_wait, settings.chain, stopped=stop_is_held)
    except OtherChain as error:
        raise SettingError(f"HOLDFAST_CHAIN: {error}") from error

"""`vault unlock`: another wrap, whose secret is in a file in the user's runtime folder until the unlock period ends.

No process waits for the end of the unlock period. The first command that runs after the period unlocks the vault with
the period's secret, removes from the store the wrap and the revisions that the wrap unlocks, and then deletes the
secret's file.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import platformdirs

from holdfast.client.storage.private_files import private_folder, read_private, write_private

if TYPE_CHECKING:
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.vault.keys import SecretKey

SESSION_ID = "session"
_KIND = "secret"
_SECRET_BYTES = 32


class Period(msgspec.Struct, frozen=True):
    """An unlock period's file: the vault's DID, the secret in hex, and the start and end in seconds since 1970."""

    did: str
    secret: str
    begun: float
    until: float

    def __repr__(self) -> str:
        return f"Period(did={self.did!r}, secret=<hidden>, begun={self.begun}, until={self.until})"

    def is_open(self, now: float) -> bool:
        """Return whether the unlock period is still running.

        The period also ends if the clock is set back to before its start.
        """
        return self.begun <= now < self.until

    @property
    def key(self) -> SecretKey:
        """The key with which commands unlock the vault during this period."""
        from holdfast.client.vault.keys import SecretKey

        return SecretKey(bytes.fromhex(self.secret), SESSION_ID)


def session_file(folder: Path | None) -> Path:
    """Return the path of the file that contains an unlock period's secret.

    The file is in the user's runtime folder, as the vault's folder may be backed up.

    Raises ValueError if there is no such folder.
    """
    from holdfast.client.storage.vault_store import store_path
    from holdfast.client.types import VaultStoreConfig

    store = store_path(VaultStoreConfig(), folder).absolute()
    name = hashlib.sha256(os.fsencode(store.parent.resolve() / store.name)).hexdigest()[:16]
    return _runtime_folder() / f"session-{name}.json"


def noted(folder: Path | None) -> Period | None:
    """Return the latest unlock period, even if it is over, or None if none exists."""
    try:
        period = msgspec.json.decode(read_private(session_file(folder)), type=Period)
        return period if len(bytes.fromhex(period.secret)) == _SECRET_BYTES else None
    except (OSError, ValueError):
        return None


def live(folder: Path | None) -> Period | None:
    """Return the unlock period, or None if none exists or it is over."""
    period = noted(folder)
    return period if period is not None and period.is_open(time.time()) else None


def begin(vault: Vault, folder: Path | None, minutes: int) -> None:
    """Begin an unlock period, during which commands can unlock the vault without its key."""
    take_away(vault)
    file = session_file(folder)
    private_folder(file.parent)
    file.unlink(missing_ok=True)
    now = time.time()
    period = Period(vault.status().did or "", secrets.token_hex(_SECRET_BYTES), now, now + 60 * minutes)
    vault.add_key(period.key)  # first, because the file tells that commands can unlock the vault
    write_private(file, msgspec.json.encode(period))


def end(store: VaultStore, folder: Path | None) -> None:
    """End the unlock period, expired or not: remove its wrap, the revisions that the wrap unlocks, and its file."""
    from holdfast.client.blocking.vault import Vault

    period = noted(folder)
    if period is not None:
        with Vault(store) as vault:
            if _opened(vault, store, period):
                take_away(vault)
    with suppress(FileNotFoundError):
        session_file(folder).unlink()


def end_if_over(store: VaultStore, folder: Path | None) -> None:
    """End the unlock period if it has expired. All commands call this first."""
    period = noted(folder)
    if period is not None and not period.is_open(time.time()):
        end(store, folder)


def take_away(vault: Vault) -> None:
    """Remove the unlock period's wrap from an unlocked vault, if the vault has one."""
    if any((wrap["kind"], wrap["id"]) == (_KIND, SESSION_ID) for wrap in vault.keys().wraps):
        vault.remove_key(_KIND, SESSION_ID)


def left_behind(store: VaultStore) -> bool:
    """Return whether the stored vault has an unlock period's wrap, according to its unencrypted header."""
    from holdfast.client.storage.sealed_header import wrap_names

    stored = store.load()
    return stored is not None and (_KIND, SESSION_ID) in wrap_names(stored.sealed)


def _runtime_folder() -> Path:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without XDG_RUNTIME_DIR; the folder's owner is checked in any case
            return Path(platformdirs.user_runtime_dir("holdfast"))
    except OSError as error:
        raise ValueError("this user has no private runtime folder") from error


def _opened(vault: Vault, store: VaultStore, period: Period) -> bool:
    if period.did not in store.dids():
        return False
    return vault.unlock(period.key, did=period.did).success

"""Opens the vault of `holdfast vault exit`: a snapshot (CAR), an export, or the vault on this machine."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli import client_vault as common
from holdfast.client.storage.private_files import read_named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holdfast.client.blocking.vault import Vault
    from holdfast.client.passkeys import Authenticator
    from holdfast.client.vault.keys import KeyProvider

_EXPORT = b"MTRV"  # docs/formats.md: how an export begins


@dataclass(frozen=True, slots=True)
class Source:
    """Where the vault is, and what opens it. `service` only names the passkeys' site; nothing asks it."""

    file: Path | None
    folder: Path | None
    key: str
    service: str
    val_share: Path | None


@contextmanager
def opened(source: Source) -> Iterator[Vault]:
    """Yield the vault, unlocked. What a file contains is not stored. Raises ServiceError, ValueError."""
    from holdfast.client.blocking.vault import Vault

    share = common.share_source(source.val_share)
    if source.file is None:
        with common.stored_vaults(source.folder) as store, Vault(store, val_share=share) as vault:
            common.open_stored(vault, store, source.folder, source.key, source.service)
            yield vault
        return
    data = read_named(source.file)
    with Vault(val_share=share) as vault:
        if data.startswith(_EXPORT):
            _import(vault, data)
        else:
            _unlock(vault, data, source)
        yield vault


def passkey_sources(source: Source) -> list[Authenticator]:
    """Return the authenticators that may have the passkey: a passkey file and a security key. Raises ValueError."""
    if source.file is not None:
        raise ValueError("--owner-passkey signs without a vault: leave out FILE")
    with common.stored_vaults(source.folder) as store:
        return common.passkey_sources(source.service, store)


def _import(vault: Vault, data: bytes) -> None:
    from holdfast.client.types import Octets, VaultImportOptions
    from holdfast.client.vault.keys import SECRET_BYTES, SecretKey
    from holdfast.wire.client_errors import ClientStateError

    password = common.ask_password("Password of the export", common.EXPORT_PASSWORD)
    # The enclave wraps each vault for a key. This one is forgotten with the vault in memory.
    key = SecretKey(secrets.token_bytes(SECRET_BYTES))
    done = vault.import_(VaultImportOptions(data=Octets(data), password=password), key)
    if not done.success:
        raise ClientStateError(f"the export cannot be opened ({done.error})")


def _unlock(vault: Vault, data: bytes, source: Source) -> None:
    from holdfast.client.snapshots.recovery import check_whole
    from holdfast.client.storage import snapshots
    from holdfast.wire.client_errors import ClientStateError, StorageError

    try:
        snapshot = snapshots.from_car(data)
        check_whole(snapshot)
    except StorageError as error:
        raise StorageError(f"{source.file} is neither a snapshot (CAR) nor an export of a vault") from error
    outcome = vault.unlock(_provider(source), snapshot.sealed)
    if not outcome.success:
        raise ClientStateError(f"the vault cannot be unlocked ({outcome.error})")


def _provider(source: Source) -> KeyProvider:
    from holdfast.client.vault.keys import NO_SECRET, KnownKey, passkey_key
    from holdfast.wire.client_errors import WebAuthnError

    if source.key != "passkey":
        return common.key_provider(source.key, source.service)
    chosen = common.security_key(source.service).discover()
    if chosen.secret is None:
        raise WebAuthnError(NO_SECRET)
    return KnownKey(passkey_key(chosen.credential_id, chosen.secret))

"""The steps of the command `holdfast vault recover`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from holdfast.cli import client_snapshots
from holdfast.cli import client_vault as common
from holdfast.cli.output import is_terminal
from holdfast.client.storage.private_files import read_named

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.client.passkeys import Authenticator
    from holdfast.client.snapshots.recovery import Recovered
    from holdfast.client.vault.keys import DiscoveredPasskey


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command was given."""

    service: str
    key: str
    name: str | None
    car: Path | None
    gateways: tuple[str, ...]
    accept_older: bool


def recover(folder: Path | None, wanted: Wanted) -> Recovered:
    """Recover a vault into a folder that has no other vault. Raises ServiceError, ValueError."""
    from holdfast.client.blocking.client import Client
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.types import SnapshotConfig
    from holdfast.wire.client_errors import ClientStateError

    config, source = SnapshotConfig(automatic=False, gateway_urls=wanted.gateways), _source(wanted)
    with common.stored_vaults(folder) as store, Vault(store) as vault:
        before = store.dids()
        with Client(wanted.service, vault=vault, snapshots=config, timeout=30) as client:
            passkey = Noticed(common.passkey_sources(wanted.service, store)) if wanted.key == "passkey" else None
            opener = None if passkey else common.key_provider(wanted.key, wanted.service)
            found = client.recover(passkey=passkey, key=opener, on_progress=common.say, **source)
            if before and found.did not in before:
                store.delete(found.did)
                raise ClientStateError(common.HAS_VAULT)
        if passkey is not None:
            store.set_note("passkey", passkey.credential_id)
        client_snapshots.begin(store, wanted.service)
        return found


@dataclass(slots=True)
class Noticed:
    """What may have the passkey, and the ID of the one that the person chose, which later commands request."""

    sources: list[Authenticator]
    credential_id: str = ""

    def discover(self) -> DiscoveredPasskey:
        """See RecoveryPasskey."""
        from holdfast.wire.client_errors import WebAuthnError

        *files, key = self.sources
        chosen = None
        for file in files:
            with suppress(WebAuthnError):
                chosen = file.discover()
        chosen = chosen or key.discover()
        self.credential_id = chosen.credential_id
        return chosen


def _source(wanted: Wanted) -> dict[str, Any]:
    if wanted.key != "passkey" and wanted.name is None and wanted.car is None:
        raise ValueError("without a passkey the snapshots' name (--name) or a file (--car) is needed")
    car = _snapshot_in(wanted.car) if wanted.car else None
    return {"name": wanted.name, "car": car, "accept": _accept if wanted.accept_older else _ask}


def _snapshot_in(file: Path) -> bytes:
    from holdfast.client.storage.snapshots import from_car
    from holdfast.wire.client_errors import ClientStateError, StorageError

    car = read_named(file)
    try:
        from_car(car)
    except StorageError as error:
        raise ClientStateError(f"{file} is not a whole snapshot of a vault: {error}") from None
    return car


def _ask(question: str) -> bool:
    """Ask the person a yes-or-no question. Without a terminal, return False."""
    if not is_terminal():
        return False
    common.say(question)
    return bool(typer.confirm("take it all the same?", err=True))


def _accept(question: str) -> bool:
    common.say(question)
    return True

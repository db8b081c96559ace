"""Snapshot uploads by the vault's commands: once a vault is registered, every command uploads its changes."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.cli.output import for_terminal, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.client.blocking.client import Client
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.snapshots.state import SnapshotState
    from holdfast.client.snapshots.versions import TableDifference
    from holdfast.client.storage.vault_store import StoredVault, VaultStore
    from holdfast.client.vault.keys import KeyProvider

# The environment variable for the audience of the tokens that authorize uploads, needed if the service's own address
# differs from the one in --service.
SERVICE_DID = "HOLDFAST_SERVICE_DID"
_SNAPSHOTS_AT = "snapshots-at"
_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Summary:
    """The state of the vault's snapshots, as lines for people and as fields for machines."""

    lines: list[str] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)


def begin(store: VaultStore | None, service: str) -> None:
    """Make all commands upload changes to this service from now on."""
    if store is not None:
        store.set_note(_SNAPSHOTS_AT, service)


def end(store: VaultStore | None) -> None:
    """Make the commands upload no changes any more."""
    if store is not None:
        store.set_note(_SNAPSHOTS_AT, "")


def bring_up(vault: Vault, store: VaultStore, service: str) -> None:
    """Upload pending changes, if the vault's snapshots are stored on this service. A failure is only reported."""
    from holdfast.wire.client_errors import ServiceError

    if store.note(_SNAPSHOTS_AT) != service or vault.status().locked or _is_current(vault, store, service):
        return
    try:
        publish(vault, service)
    except ServiceError as error:
        write(sys.stderr, for_terminal(f"the snapshot is not up to date yet: {error}"))


def _is_current(vault: Vault, store: VaultStore, service: str) -> bool:
    from holdfast.client.snapshots.state import is_due, read_state
    from holdfast.client.snapshots.tokens import did_of_service

    stored = store.load(vault.status().did)
    state = read_state(store, stored.manifest.did) if stored else None
    audience = os.environ.get(SERVICE_DID) or did_of_service(service)
    return bool(stored and state and state.service == audience and not is_due(stored, state))


def publish(vault: Vault, service: str) -> SnapshotState:
    """Upload the newest revision. Raises ServiceError with the server's reason."""
    with client_of(vault, service) as client:
        return client.publish_snapshot()


def compare(vault: Vault, service: str, key: KeyProvider) -> list[TableDifference]:
    """Return the tables in which the two conflicting versions of the vault differ."""
    with client_of(vault, service) as client:
        return client.compare_snapshots(key)


def choose(vault: Vault, service: str, version: str, key: KeyProvider) -> SnapshotState:
    """End a conflict. Raises ValueError for another word than here and there."""
    with client_of(vault, service) as client:
        return client.choose_snapshot(version, key)  # type: ignore[arg-type]  # checked there


def name(vault: Vault) -> str:
    """Return the IPNS name of the vault's snapshots."""
    return vault.publishing_key().name


def summary(store: VaultStore, stored: StoredVault) -> Summary:
    """Return what `vault status` prints about the snapshots: nothing until the first one."""
    from holdfast.client.snapshots.state import is_due, read_state

    state = read_state(store, stored.manifest.did)
    if state.revision == 0:
        return Summary()
    upto = not is_due(stored, state)
    text = "up to date" if upto else f"{state.status}{f': {state.reason}' if state.reason else ''}"
    found = {"status": state.status, "root": state.acknowledged_root, "sequence": state.sequence, "current": upto}
    return Summary([f"snapshot {state.sequence}, {text}"], {"snapshot": found})


@contextmanager
def client_of(vault: Vault, service: str, **more: Any) -> Iterator[Client]:
    """Yield a client of the service with the vault, which uploads nothing by itself. `more`: options of the client."""
    from holdfast.client.blocking.client import Client
    from holdfast.client.types import SnapshotConfig

    config = SnapshotConfig(automatic=False, service_did=os.environ.get(SERVICE_DID) or None)
    with Client(service, vault=vault, snapshots=config, timeout=_TIMEOUT_S, **more) as client:
        yield client

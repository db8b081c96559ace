"""holdfast vault snapshot, compare, choose, recover: the vault's snapshots on a service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli import client_snapshots, recovery
from holdfast.cli import client_vault as common
from holdfast.cli.addresses import url_options
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, Key, Service
from holdfast.cli.output import emit
from holdfast.client.storage.private_files import write_private
from holdfast.wire.encoding import utc_text


def snapshot(
    car: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the snapshot to FILE (CAR), in place of sending it.")
    ] = None,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    as_json: AsJson = False,
) -> None:
    """Upload the vault's snapshot now and, from then on, after every change."""
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        if car is not None:
            taken = vault.snapshot()
            write_private(car, taken.to_car())
            emit({"root": taken.root_cid, "file": str(car)}, f"{taken.root_cid}\nwritten to {car}", as_json=as_json)
            return
        state = client_snapshots.publish(vault, service)
        client_snapshots.begin(vault.store, service)
        answer = {"status": state.status, "root": state.acknowledged_root, "sequence": state.sequence}
        name = client_snapshots.name(vault)
        text = f"{state.status}: {state.acknowledged_root}\nnumber {state.sequence} under the name {name}"
        emit({**answer, "name": name}, text, as_json=as_json)


def compare(
    service: Service = DEFAULT_SERVICE, folder: Folder = None, key: Key = "password", as_json: AsJson = False
) -> None:
    """After a conflict, print the differences between this device's version of the vault and the other device's."""
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        opener = common.key_provider(key, service, vault.store)
        found = client_snapshots.compare(vault, service, opener)
        lines = [
            f"{d.table}: only here {len(d.only_here)}, only there {len(d.only_there)}, different {len(d.different)}"
            for d in found
        ]
        emit([difference.to_json() for difference in found], "\n".join(lines) or "no difference", as_json=as_json)


def choose(
    version: Annotated[str, typer.Argument(metavar="here|there", help="Whose version goes on.")],
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    as_json: AsJson = False,
) -> None:
    """After a conflict, continue with this device's version (here) or the other device's (there). Both stay stored."""
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        opener = common.key_provider(key, service, vault.store)
        state = client_snapshots.choose(vault, service, version, opener)
        answer = {"status": state.status, "root": state.acknowledged_root, "sequence": state.sequence}
        emit(answer, f"{state.status}: {state.acknowledged_root}", as_json=as_json)


def recover(  # noqa: PLR0913, PLR0917 - each is an option of the command
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "passkey",
    name: Annotated[str | None, typer.Option(metavar="K51", help="The name of the snapshots.")] = None,
    car: Annotated[Path | None, typer.Option(metavar="FILE", help="A snapshot in hand (CAR).")] = None,
    gateway: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            callback=lambda urls: url_options("--gateway", urls),
            help="Another IPFS gateway; repeatable.",
        ),
    ] = None,
    accept_older: Annotated[
        bool, typer.Option(help="Take a snapshot that is, or may be, older than the newest one.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Recover the vault on a new device, with a synced passkey on the plugged-in security key or with another key."""
    with common.plain_errors(as_json=as_json):
        wanted = recovery.Wanted(service, key, name, car, tuple(gateway or ()), accept_older=accept_older)
        found = recovery.recover(folder, wanted)
        written = utc_text(found.updated_at / 1000)
        text = f"{found.did}\nrevision {found.revision} of {written}, snapshot {found.root_cid}"
        emit(found.to_json(), text, as_json=as_json)

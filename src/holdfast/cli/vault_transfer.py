"""holdfast vault export, import, pair, receive, meet: moves a vault from one device to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, Key, Service
from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.client.storage.private_files import read_named, write_private

File = Annotated[Path, typer.Argument(metavar="FILE")]


def export_vault(
    file: File,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    as_json: AsJson = False,
) -> None:
    """Write the vault to FILE, encrypted under a separate password."""
    from holdfast.client.types import VaultExportOptions

    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        password = common.ask_password("Password of the export", common.EXPORT_PASSWORD, new=True)
        exported = vault.export(VaultExportOptions(password=password), min_password=common.min_password())
        if not exported.success or exported.data is None:
            fail(Exit.FAILED, f"the vault was not exported ({exported.error})", as_json=as_json)
        write_private(file, exported.data)
        answer = {"did": exported.did, "file": str(file), "bytes": len(exported.data)}
        emit(answer, f"{len(exported.data)} bytes in {file}", as_json=as_json)


def import_vault(
    file: File,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    as_json: AsJson = False,
) -> None:
    """Import a vault from FILE."""
    from holdfast.client.types import Octets, VaultImportOptions

    with common.plain_errors(as_json=as_json), common.new_vault(folder) as (store, vault):
        data = Octets(read_named(file))
        password = common.ask_password("Password of the export", common.EXPORT_PASSWORD)
        opener = common.key_provider(key, service, store, new=True)
        done = vault.import_(VaultImportOptions(data=data, password=password), opener)
        if not done.success:
            fail(Exit.FAILED, f"the vault was not imported ({done.error})", as_json=as_json)
        emit(done.to_json(), f"{done.did}: {done.accounts} accounts, {done.credentials} passkeys", as_json=as_json)


def pair(
    link: Annotated[str | None, typer.Argument(metavar="[LINK]", help="What the other device shows.")] = None,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    libp2p: Annotated[bool, typer.Option("--libp2p", help="Over libp2p instead of a local link.")] = False,
    as_json: AsJson = False,
) -> None:
    """Transfer the vault to a new device.

    Without LINK, this device sends the vault; with LINK, it receives the vault.
    """
    from holdfast.cli import pairing

    with common.plain_errors(as_json=as_json):
        if link is None:
            with common.opened_vault(folder, key, service) as vault:
                answer = pairing.give(vault, host=host, libp2p=libp2p)
        else:
            answer = pairing.take(link, folder, key, service)
        emit(answer, f"paired: {answer['did']}", as_json=as_json)


def receive(
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    as_json: AsJson = False,
) -> None:
    """Receive the vault from a browser on this computer.

    A browser cannot accept connections, so the command waits until the browser connects.
    """
    from holdfast.cli import pairing

    with common.plain_errors(as_json=as_json):
        answer = pairing.wait_and_take(folder, key, service, host=host)
        emit(answer, f"paired: {answer['did']}", as_json=as_json)


def meet(
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The WebSocket multiaddress to listen on.")
    ] = "/ip4/127.0.0.1/tcp/4001/ws",
    identity: Annotated[
        Path, typer.Option(metavar="FILE", help="Where the host's identity is stored; created at the first start.")
    ] = Path("meeting-host.key"),
    as_json: AsJson = False,
) -> None:
    """Run the host through which two browsers pair (HOLDFAST_PAIRING_HOST). It cannot read the vaults."""
    from holdfast.cli import pairing

    with common.plain_errors(as_json=as_json):
        pairing.host_meetings(listen, identity, lambda answer: emit(answer, answer["address"], as_json=as_json))

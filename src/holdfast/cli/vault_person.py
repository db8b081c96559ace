"""holdfast vault stored, take-back, add-address: what a service stores about the vault's DID."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import client_snapshots
from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, Key, Service
from holdfast.cli.exits import Exit
from holdfast.cli.output import confirm, emit, fail

if TYPE_CHECKING:
    from holdfast.client.blocking.client import Client
    from holdfast.client.types.service import PersonRemoved

_QUESTIONS = {
    "passkey": "Remove this passkey's registration? The vault keeps the passkey.",
    "identifier": "Free this name? Anyone may then register it.",
    "everything": "Delete all that the service stores about you? Your snapshots there are then gone.",
}


def stored(
    service: Service = DEFAULT_SERVICE, folder: Folder = None, key: Key = "password", as_json: AsJson = False
) -> None:
    """Print all that the service stores about the vault's DID, as JSON."""
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        with client_snapshots.client_of(vault, service) as client:
            found = client.export_person()
        emit(found, json.dumps(found, ensure_ascii=False, indent=2), as_json=as_json)


def take_back(  # noqa: PLR0913, PLR0917 - each is an option of the command
    passkey: Annotated[str | None, typer.Option(metavar="ID", help="A passkey's credential ID.")] = None,
    identifier: Annotated[str | None, typer.Option(help="A handle, e-mail address or phone number.")] = None,
    channel: Annotated[str, typer.Option(help="Of the identifier: handle, email or sms.")] = "handle",
    everything: Annotated[bool, typer.Option("--everything", help="All that the service stores about you.")] = False,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take back from the service: one passkey, one name or address, or everything. The vault here stays."""
    given = {"passkey": passkey, "identifier": identifier, "everything": everything or None}
    chosen = [name for name, value in given.items() if value]
    if len(chosen) != 1:
        fail(Exit.USAGE, "choose one of --passkey, --identifier and --everything", as_json=as_json)
    confirm(_QUESTIONS[chosen[0]], yes=yes, as_json=as_json)
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        with client_snapshots.client_of(vault, service) as client:
            removed = _removed(client, passkey, identifier, channel)
        if everything:
            client_snapshots.end(vault.store)
    counts = {name: count for name, count in removed.to_json().items() if name != "ok"}
    lines = ", ".join(f"{name} {count}" for name, count in counts.items())
    emit(counts, f"removed: {lines}" if any(counts.values()) else "nothing to remove", as_json=as_json)


def add_address(
    address: Annotated[str, typer.Argument(help="An e-mail address, or a phone number that begins with +.")],
    instead_of: Annotated[str | None, typer.Option(help="An old address, which is freed afterwards.")] = None,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    as_json: AsJson = False,
) -> None:
    """Add an e-mail address or phone number to the vault's DID at the service, which sends a code there."""
    with (
        common.plain_errors(as_json=as_json),
        common.opened_vault(folder, key, service) as vault,
        client_snapshots.client_of(vault, service) as client,
    ):
        channel = _channel_of(address)
        client.send_code(address, channel)
        checked = client.check_code(address, channel, common.ask_code(f"A code was sent to {address}."))
        if checked.attestation is None:
            fail(Exit.FAILED, checked.message or "the code is wrong", as_json=as_json)
        added = client.add_address(checked.attestation)
        if instead_of is not None:
            client.free_identifier(instead_of, _channel_of(instead_of))
    emit(added.to_json(), f"{added.identifier} is added", as_json=as_json)


def _channel_of(address: str) -> str:
    return "email" if "@" in address else "sms"


def _removed(client: Client, passkey: str | None, identifier: str | None, channel: str) -> PersonRemoved:
    if passkey is not None:
        return client.take_back_passkey(passkey)
    return client.erase_person() if identifier is None else client.free_identifier(identifier, channel)

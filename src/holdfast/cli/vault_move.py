"""holdfast vault move: takes vault, name and a new passkey to another service, or to a new host name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import client_vault as common
from holdfast.cli import kept_snapshots
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, Key, Service
from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail, require_answer

if TYPE_CHECKING:
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.moving.values import Moved


def move(
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The service to move to.")],
    invitation: Annotated[
        str | None, typer.Option(help="A code, if the new service admits people by invitation.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for the new service's host.")] = False,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    as_json: AsJson = False,
) -> None:
    """Move to another service: the vault's copy, the name, and a new passkey for its host.

    DID, keys and account stay. The service that --service names gives up the name only after everything was found at
    the new one. After an interruption, run the command again to continue.
    """
    from holdfast.client.moving.target import address_of

    with common.plain_errors(as_json=as_json):
        url = address_of(to)
        require_answer(yes=yes, as_json=as_json)
        _confirm(url, yes=yes, as_json=as_json)
        with common.opened_vault(folder, key, service) as vault:
            moved = _moved(vault, service, url, invitation)
            if vault.store is not None:
                vault.store.set_note("passkey", moved.credential_id)
                kept_snapshots.begin(vault.store, url)
        lines = [f"{moved.identifier} is at {url} now, and stays {moved.did}", f"passkey {moved.credential_id}"]
        lines += [f"still at {service}: {', '.join(moved.left_behind)}"] if moved.left_behind else []
        emit(moved.to_json(), "\n".join(lines), as_json=as_json)


def _confirm(url: str, *, yes: bool, as_json: bool) -> None:
    """Have the person type the host, so that a pasted address of a look-alike is read once more."""
    from holdfast.client.moving.target import host_of

    if not yes and str(typer.prompt("Type the host of the new service", err=True)).strip().lower() != host_of(url):
        fail(Exit.FAILED, f"that is not {host_of(url)}: nothing was done", as_json=as_json)


def _moved(vault: Vault, service: str, url: str, invitation: str | None) -> Moved:
    device = common.software_key(vault.store)
    headers = {"Holdfast-Invitation": invitation} if invitation else None
    with kept_snapshots.client_of(vault, service) as client:
        return client.move(
            url, common.security_key(url, device), code=common.ask_code, headers=headers, on_progress=common.say
        )

"""holdfast vault move: takes vault, name and a new passkey to another service, or to a new host name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import client_snapshots
from holdfast.cli import client_vault as common
from holdfast.cli.account_options import Paying, Yes, second_of, with_options
from holdfast.cli.exits import Exit
from holdfast.cli.output import emit_done, fail, require_answer

if TYPE_CHECKING:
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.moving.values import Moved

_END = "The old passkey is an owner of the account. End it, now that the new one has signed?"


@with_options
def move(
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The service to move to.")],
    invitation: Annotated[
        str | None, typer.Option(help="A code, if the new service admits people by invitation.")
    ] = None,
    owner: Annotated[
        bool, typer.Option("--owner/--no-owner", help="Whether the new passkey becomes an owner of the account.")
    ] = True,
    end_old: Annotated[
        bool, typer.Option("--end-old-passkey", help="End the old passkey as an owner of the account, without asking.")
    ] = False,
    yes: Yes = False,
    *,
    options: Paying,
) -> None:
    """Move to another service: the vault's copy, the name, and a new passkey for its host.

    DID, keys and account stay. The service that --service names gives up the name only after everything was found at
    the new one, and the new passkey owns the account. After an interruption, run the command again to continue.
    """
    from holdfast.client.moving.target import address_of

    service, as_json = options.service, options.as_json
    with common.plain_errors(as_json=as_json):
        url = address_of(to)
        if end_old and not owner:
            raise ValueError("--end-old-passkey: only if the new passkey becomes an owner, without --no-owner")
        require_answer(yes=yes, as_json=as_json)
        _confirm(url, yes=yes, as_json=as_json)
        with common.opened_vault(options.folder, options.key, service) as vault:
            given = {"owner": owner, "end_former": lambda: end_old or (not yes and typer.confirm(_END, err=True))}
            moved = _moved(vault, options, url, invitation, given)
            if vault.store is not None:
                vault.store.set_note("passkey", moved.credential_id)
                client_snapshots.begin(vault.store, url)
        lines = [f"{moved.identifier} is at {url} now, and stays {moved.did}", f"passkey {moved.credential_id}"]
        lines += [_owner_line(moved)]
        if moved.missing_on:
            chains = ", ".join(moved.missing_on)
            lines += [f"not on {chains} yet, where the old passkey can pay as before: `holdfast account bring`"]
        lines += [f"still at {service}: {', '.join(moved.left_behind)}"] if moved.left_behind else []
        owners = {"is_owner": moved.is_owner, "former_is_owner": moved.former_is_owner, "missing_on": moved.missing_on}
        emit_done({**moved.to_json(), **owners}, "\n".join(lines), as_json=as_json)


def _confirm(url: str, *, yes: bool, as_json: bool) -> None:
    """Have the person type the host, so that a pasted address of a look-alike is read once more."""
    from holdfast.client.moving.target import host_of

    if not yes and str(typer.prompt("Type the host of the new service", err=True)).strip().lower() != host_of(url):
        fail(Exit.FAILED, f"that is not {host_of(url)}: nothing was done", as_json=as_json)


def _moved(vault: Vault, options: Paying, url: str, invitation: str | None, given: dict[str, Any]) -> Moved:
    device = common.passkey_device(vault.store)
    given |= {"headers": {"Holdfast-Invitation": invitation} if invitation else None}
    gas = common.gas_policy(options.paymaster, options.rpc)
    with second_of(options) as second:
        more = {"account": options.account, "foreign_contracts": options.foreign, "second_key": second, "gas": gas}
        with client_snapshots.client_of(vault, options.service, **more) as client:
            passkeys = common.security_key(url, device)
            return client.move(url, passkeys, code=common.ask_code, on_progress=common.say, **given)


def _owner_line(moved: Moved) -> str:
    if not moved.is_owner:
        return "the new passkey does not own the account: `holdfast account owners add` makes it an owner"
    return "the new passkey owns the account" + (", and so does the old one" if moved.former_is_owner else "")

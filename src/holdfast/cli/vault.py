"""holdfast vault: the vault on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli import (
    client_snapshots,
    delegations,
    sessions,
    vault_exit,
    vault_move,
    vault_person,
    vault_snapshots,
    vault_transfer,
)
from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, ForeignContracts, Key, Service, ValShare
from holdfast.cli.output import emit
from holdfast.client.storage.private_files import read_named

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="The vault on this machine.")


@app.command()
def create(  # noqa: PLR0913, PLR0917 - each is an option of the command
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    name: Annotated[str, typer.Option(help="Your name, as the security key shows it.")] = "me",
    credential: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A passkey made elsewhere, serialised, in base64.")
    ] = None,
    software: Annotated[
        bool, typer.Option("--password", "--software", help="Without a security key: a passkey in software, in a file.")
    ] = False,
    val_share: ValShare = None,
    foreign: ForeignContracts = False,
    as_json: AsJson = False,
) -> None:
    """Create a vault from a passkey: a new one on a security key or in software, or one that was created elsewhere.

    With --password, servers and agents need no hardware: the passkey is in a file next to the vault that only this user
    can read, and the vault opens with --key, by default a password.
    """
    from holdfast.client.passkeys import PasskeyKey, Person
    from holdfast.client.types import GenerateInput

    with common.plain_errors(as_json=as_json), common.new_vault(folder) as (store, vault):
        # The user handle leads to the vault's snapshots, so a synced passkey alone is enough to recover the vault.
        person = Person.of(vault.publishing_key(), name)
        device = common.software_key(store, new=True) if software else None
        made = None if credential else common.security_key(service, device).create_passkey(person)
        if made is not None:
            store.set_note("passkey", made.credential_id)
        serialised = made.credential if made else _text(credential)
        opener = common.key_provider(key, service, store, new=True)
        if isinstance(opener, PasskeyKey):
            common.say("once more, for the secret that opens the vault")
        given = GenerateInput(credential=serialised)
        contracts = common.contracts_of(service, foreign=foreign)
        found = vault.generate(given, opener, keep_share=common.share_keeper(val_share), **contracts)
        if contracts:
            common.compare_account(service, found)
        account = found.accounts[0].address
        answer = {"did": found.did, "account": account, "store": str(store.path)}
        emit(answer, f"{found.did}\naccount {account}\nstored in {store.path}", as_json=as_json)


@app.command()
def unlock(
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="How long the commands need no key.")] = 15,
    as_json: AsJson = False,
) -> None:
    """Let all commands unlock the vault without its key for a limited time."""
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        sessions.begin(vault, folder, minutes)
        emit({"did": vault.status().did, "minutes": minutes}, f"open for {minutes} minutes", as_json=as_json)


@app.command()
def lock(
    service: Service = DEFAULT_SERVICE, folder: Folder = None, key: Key = "password", as_json: AsJson = False
) -> None:
    """End the unlock period."""
    with common.plain_errors(as_json=as_json):
        with common.stored_vaults(folder, new=False) as store:
            sessions.end(store, folder)
            if store.load() is None:
                raise common.NoVault(common.NO_VAULT)
            left = sessions.left_behind(store)
        if left:
            # The file with the unlock period's secret is gone, so the period's wrap can be removed only with another
            # key of the vault. Opening the vault removes the wrap.
            with common.opened_vault(folder, key, service):
                pass
        emit({"locked": True}, "locked", as_json=as_json)


@app.command()
def status(folder: Folder = None, as_json: AsJson = False) -> None:
    """Print the stored vault's DID and revision, and whether commands need its key."""
    with common.plain_errors(as_json=as_json), common.stored_vaults(folder, new=False, reads=True) as store:
        stored = store.load()
        if stored is None:
            raise common.NoVault(common.NO_VAULT)
        locked = sessions.live(folder) is None
        answer = {"did": stored.manifest.did, "revision": stored.revision, "locked": locked, "store": str(store.path)}
        state = "locked" if locked else "open for commands"
        snapshots = client_snapshots.summary(store, stored)
        lines = [stored.manifest.did, f"revision {stored.revision}, {state}", *snapshots.lines]
        emit(answer | snapshots.fields, "\n".join(lines), as_json=as_json)


@app.command()
def accounts(
    service: Service = DEFAULT_SERVICE, folder: Folder = None, key: Key = "password", as_json: AsJson = False
) -> None:
    """Print the vault's accounts."""
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        found = vault.query().accounts
        lines = [f"{a.address}  chain {a.chain_id}  {a.label}{'  (default)' if a.is_default else ''}" for a in found]
        emit([account.to_json() for account in found], "\n".join(lines), as_json=as_json)


@app.command()
def credentials(
    service: Service = DEFAULT_SERVICE, folder: Folder = None, key: Key = "password", as_json: AsJson = False
) -> None:
    """Print the vault's passkeys."""
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        found = vault.query().credentials
        lines = [f"{c.credential_id}  {c.device_type}  since {c.created_at}" for c in found]
        emit([credential.to_json() for credential in found], "\n".join(lines), as_json=as_json)


def _text(file: Path | None) -> str:
    return read_named(file).decode("ascii", "replace").strip() if file else ""


app.command("export")(vault_transfer.export_vault)
app.command("import")(vault_transfer.import_vault)
app.command()(vault_transfer.pair)
app.command()(vault_transfer.receive)
app.command()(vault_transfer.meet)
app.command()(vault_snapshots.snapshot)
app.command()(vault_snapshots.compare)
app.command()(vault_snapshots.choose)
app.command()(vault_snapshots.recover)
app.command("exit")(vault_exit.leave)
app.command()(vault_move.move)
app.command()(vault_person.stored)
app.command("take-back")(vault_person.take_back)
app.command("add-address")(vault_person.add_address)
app.command()(delegations.delegate)
app.command()(delegations.revoke)

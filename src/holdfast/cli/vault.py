"""holdfast vault: the vault on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli import client_vault as common
from holdfast.cli import delegations, kept_snapshots, recovery, sessions
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, Key, Service, ValShare
from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.private_files import write_private

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="The vault on this machine.")

File = Annotated[Path, typer.Argument(metavar="FILE")]


@app.command()
def create(
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    name: Annotated[str, typer.Option(help="Your name, as the security key shows it.")] = "me",
    credential: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A passkey made elsewhere, serialised, in base64.")
    ] = None,
    val_share: ValShare = None,
    as_json: AsJson = False,
) -> None:
    """Create a vault from a passkey: a new one on the plugged-in security key, or one that was created elsewhere."""
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.passkeys import PasskeyKey, Person
    from holdfast.client.types import GenerateInput

    with common.plain_errors(as_json=as_json), common.stored_vaults(folder) as store, Vault(store) as vault:
        if store.dids():
            fail(
                Exit.FAILED, "there is a vault here already: use --vault-dir to choose another folder", as_json=as_json
            )
        # The user handle leads to the vault's snapshots, so a synced passkey alone is enough to recover the vault.
        person = Person.of(vault.publishing_key(), name)
        made = None if credential else common.security_key(service).create_passkey(person)
        if made is not None:
            store.set_note("passkey", made.credential_id)
        serialised = made.credential if made else _text(credential)
        opener = common.key_provider(key, service, store, new=True)
        if isinstance(opener, PasskeyKey):
            common.say("once more, for the secret that opens the vault")
        given = GenerateInput(credential=serialised)
        contracts = common.contracts_of(service)
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
        with common.stored_vaults(folder) as store:
            sessions.end(store, folder)
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
    with common.plain_errors(as_json=as_json), common.stored_vaults(folder) as store:
        stored = store.load()
        if stored is None:
            fail(Exit.NOT_FOUND, "there is no vault here yet: holdfast vault create", as_json=as_json)
        locked = sessions.live(folder) is None
        answer = {"did": stored.manifest.did, "revision": stored.revision, "locked": locked, "store": str(store.path)}
        state = "locked" if locked else "open for commands"
        snapshots = kept_snapshots.summary(store, stored)
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


@app.command("export")
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


@app.command("import")
def import_vault(
    file: File,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    as_json: AsJson = False,
) -> None:
    """Import a vault from FILE."""
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.types import Octets, VaultImportOptions

    with common.plain_errors(as_json=as_json), common.stored_vaults(folder) as store, Vault(store) as vault:
        data = Octets(_bytes(file))
        password = common.ask_password("Password of the export", common.EXPORT_PASSWORD)
        opener = common.key_provider(key, service, store, new=True)
        done = vault.import_(VaultImportOptions(data=data, password=password), opener)
        if not done.success:
            fail(Exit.FAILED, f"the vault was not imported ({done.error})", as_json=as_json)
        emit(done.to_json(), f"{done.did}: {done.accounts} accounts, {done.credentials} passkeys", as_json=as_json)


@app.command()
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


@app.command()
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


@app.command()
def meet(
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The WebSocket multiaddress to listen on.")
    ] = "/ip4/127.0.0.1/tcp/4001/ws",
    identity: Annotated[
        Path, typer.Option(metavar="FILE", help="Where the host's identity is kept; made at the first start.")
    ] = Path("meeting-host.key"),
    as_json: AsJson = False,
) -> None:
    """Run the host through which two browsers pair (HOLDFAST_PAIRING_HOST). It cannot read the vaults."""
    from holdfast.cli import pairing

    with common.plain_errors(as_json=as_json):
        pairing.host_meetings(listen, identity, lambda answer: emit(answer, answer["address"], as_json=as_json))


@app.command()
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
        state = kept_snapshots.publish(vault, service)
        kept_snapshots.begin(vault.store, service)
        answer = {"status": state.status, "root": state.acknowledged_root, "sequence": state.sequence}
        name = kept_snapshots.name(vault)
        text = f"{state.status}: {state.acknowledged_root}\nnumber {state.sequence} under the name {name}"
        emit({**answer, "name": name}, text, as_json=as_json)


@app.command()
def compare(
    service: Service = DEFAULT_SERVICE, folder: Folder = None, key: Key = "password", as_json: AsJson = False
) -> None:
    """After a conflict, print the differences between this device's version of the vault and the other device's."""
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        opener = common.key_provider(key, service, vault.store)
        found = kept_snapshots.compare(vault, service, opener)
        lines = [
            f"{d.table}: only here {len(d.only_here)}, only there {len(d.only_there)}, different {len(d.different)}"
            for d in found
        ]
        emit([difference.to_json() for difference in found], "\n".join(lines) or "no difference", as_json=as_json)


@app.command()
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
        state = kept_snapshots.choose(vault, service, version, opener)
        answer = {"status": state.status, "root": state.acknowledged_root, "sequence": state.sequence}
        emit(answer, f"{state.status}: {state.acknowledged_root}", as_json=as_json)


@app.command()
def recover(  # noqa: PLR0913, PLR0917 - each is an option of the command
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "passkey",
    name: Annotated[str | None, typer.Option(metavar="K51", help="The name of the snapshots.")] = None,
    car: Annotated[Path | None, typer.Option(metavar="FILE", help="A snapshot in hand (CAR).")] = None,
    gateway: Annotated[list[str] | None, typer.Option(metavar="URL", help="Another IPFS gateway; repeatable.")] = None,
    accept_older: Annotated[bool, typer.Option(help="Take a snapshot that is older than one seen before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Recover the vault on a new device, with a synced passkey on the plugged-in security key or with another key."""
    with common.plain_errors(as_json=as_json):
        wanted = recovery.Wanted(service, key, name, car, tuple(gateway or ()), accept_older=accept_older)
        found = recovery.recover(folder, wanted)
        text = f"{found.did}\nrevision {found.revision}, snapshot {found.root_cid}"
        emit(found.to_json(), text, as_json=as_json)


def _text(file: Path | None) -> str:
    return _bytes(file).decode("ascii", "replace").strip() if file else ""


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file} cannot be read") from error


app.command()(delegations.delegate)
app.command()(delegations.revoke)

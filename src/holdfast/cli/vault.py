"""holdfast vault: the vault on this machine."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast.cli import client_vault as common
from holdfast.cli import sessions
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, Key, Service, ValShare
from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.private_files import write_private

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="The vault on this machine.")

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
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
    """Make a vault from a passkey: on the plugged-in security key, or made elsewhere."""
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.passkeys import PasskeyKey, Person
    from holdfast.client.types import GenerateInput

    with common.plain_errors(as_json=as_json), common.stored_vaults(folder) as store, Vault(store) as vault:
        if store.dids():
            fail(
                Exit.FAILED, "there is a vault here already: use --vault-dir to choose another folder", as_json=as_json
            )
        made = None if credential else common.security_key(service).create_passkey(Person(name))
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
    """Let the commands that follow open the vault without a key, for some minutes."""
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
            # The file is gone, so only another key of the vault can remove the wrap. Opening the vault does that.
            with common.opened_vault(folder, key, service):
                pass
        emit({"locked": True}, "locked", as_json=as_json)


@app.command()
def status(folder: Folder = None, as_json: AsJson = False) -> None:
    """Print the stored vault's DID and revision, and whether commands need a key."""
    with common.plain_errors(as_json=as_json), common.stored_vaults(folder) as store:
        stored = store.load()
        if stored is None:
            fail(Exit.NOT_FOUND, "there is no vault here yet: holdfast vault create", as_json=as_json)
        locked = sessions.live(folder) is None
        answer = {"did": stored.manifest.did, "revision": stored.revision, "locked": locked, "store": str(store.path)}
        state = "locked" if locked else "open for commands"
        emit(answer, f"{stored.manifest.did}\nrevision {stored.revision}, {state}", as_json=as_json)


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
    """Bring the vault to a new device: without LINK this device sends, with LINK it receives."""
    from holdfast.cli import pairing

    with common.plain_errors(as_json=as_json):
        if link is None:
            with common.opened_vault(folder, key, service) as vault:
                answer = pairing.give(vault, host=host, libp2p=libp2p)
        else:
            answer = pairing.take(link, folder, key, service)
        emit(answer, f"paired: {answer['did']}", as_json=as_json)


@app.command()
def delegate(  # noqa: PLR0913, PLR0917 - each is an option of the command
    to: Annotated[str, typer.Argument(metavar="DID", help="Who may act.")],
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="What, as /resource/action.")],
    hours: Annotated[float, typer.Option(min=0.01, help="For how long.")] = 24.0,
    at_most: Annotated[int | None, typer.Option(metavar="AMOUNT", help="Payments: at most so much each.")] = None,
    in_total: Annotated[int | None, typer.Option(metavar="AMOUNT", help="Payments: so much in all.")] = None,
    payee: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Payments: to this address alone.")] = None,
    token: Annotated[str | None, typer.Option(help='Payments: of this ERC-20 token alone, or "native".')] = None,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    val_share: ValShare = None,
    as_json: AsJson = False,
) -> None:
    """Delegate a command of this vault to another DID, within limits. Prints the token.

    The limits on payments need the command /accounts/pay. They count each token separately.
    """
    from holdfast.client.types import DelegationOptions

    policy = _payment_policy(at_most, in_total, payee, token)
    if policy and command != "/accounts/pay":
        fail(Exit.USAGE, "limits on payments go with the command /accounts/pay", as_json=as_json)
    given = DelegationOptions(
        to=to, command=command, expiration=int(time.time() + hours * 3600), caveats={"policy": policy}
    )
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service, val_share) as vault:
        made = vault.mint_delegation(given)
        emit({"cid": made.cid, "token": made.container}, made.container, as_json=as_json)


@app.command()
def revoke(
    cid: Annotated[str, typer.Argument(metavar="CID")],
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    as_json: AsJson = False,
) -> None:
    """Revoke a delegation."""
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        done = vault.exec("resource:delegations action:revoke", {"cid": cid})
        if not done.success:
            fail(Exit.NOT_FOUND, f"no such delegation ({done.error})", as_json=as_json)
        emit({"revoked": cid}, f"revoked {cid}", as_json=as_json)


def _payment_policy(at_most: int | None, in_total: int | None, payee: str | None, token: str | None) -> list[Any]:
    """Return the policy, with addresses in the form of payments. Raises BadParameter for an invalid address."""
    statements: list[Any] = [["<=", ".amount", at_most]] if at_most is not None else []
    statements += [["<=", ".total", in_total]] if in_total is not None else []
    statements += [["==", ".to", _address(payee)]] if payee is not None else []
    if token is not None:
        statements += [["==", ".token", token if token == "native" else _address(token)]]  # noqa: S105 - a currency
    return statements


def _address(text: str) -> str:
    from holdfast.wire.encoding import from_hex
    from holdfast.wire.keccak import checksum_address

    if not _ADDRESS.fullmatch(text):
        raise typer.BadParameter(f"{text} is not an address")
    return checksum_address(from_hex(text))


def _text(file: Path | None) -> str:
    return _bytes(file).decode("ascii", "replace").strip() if file else ""


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file} cannot be read") from error

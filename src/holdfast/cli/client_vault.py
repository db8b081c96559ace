"""Shared code of the commands that use a vault: options for the vault and its key, and prompts."""

from __future__ import annotations

import base64
import getpass
import io
import logging
import math
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import client_snapshots, sessions
from holdfast.cli.addresses import url_option
from holdfast.cli.exits import Exit
from holdfast.cli.output import fail, for_terminal, is_terminal, write
from holdfast.client.storage.private_files import read_private, write_private
from holdfast.wire import waiting
from holdfast.wire.defaults import SERVICE_URL

if TYPE_CHECKING:
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.flows.gas import GasPolicy
    from holdfast.client.passkeys import Authenticator
    from holdfast.client.software_authenticator import SoftwareAuthenticator
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.types import EncryptedShares
    from holdfast.client.vault.calls import Generated
    from holdfast.client.vault.keys import KeyProvider
    from holdfast.client.vault.second_share import ShareKeeper, ShareSource
    from holdfast.wire.client_errors import ServiceError

DEFAULT_SERVICE = SERVICE_URL
VAULT_PASSWORD = "HOLDFAST_VAULT_PASSWORD"  # noqa: S105 - the variable's name
EXPORT_PASSWORD = "HOLDFAST_EXPORT_PASSWORD"  # noqa: S105 - the variable's name
MIN_PASSWORD = "HOLDFAST_MIN_PASSWORD"  # noqa: S105 - the variable's name
_ASKING_S = 5.0
_OPTIONS = {  # of the client's arguments, which its errors name
    "rpc_url": "--rpc (HOLDFAST_CLIENT_RPC_URL)",
    "paymaster_url": "--paymaster (HOLDFAST_PAYMASTER_URL)",
}


Service = Annotated[
    str,
    typer.Option(
        "--service",
        metavar="URL",
        envvar="HOLDFAST_SERVICE_URL",
        callback=lambda url: url_option("--service (HOLDFAST_SERVICE_URL)", url),
        help="The service.",
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option("--vault-dir", metavar="DIR", envvar="HOLDFAST_VAULT_DIR", help="Instead of the user's data folder."),
]
Key = Annotated[
    str,
    typer.Option(
        "--key", metavar="password|keyring|passkey", envvar="HOLDFAST_VAULT_KEY", help="What opens the vault."
    ),
]
ValShare = Annotated[
    Path | None,
    typer.Option(
        "--val-share",
        metavar="FILE",
        envvar="HOLDFAST_VAL_SHARE",
        help="The file with the key's second share, apart from the vault.",
    ),
]
ForeignContracts = Annotated[
    bool,
    typer.Option(
        "--contracts-of-the-service",
        envvar="HOLDFAST_CONTRACTS_OF_THE_SERVICE",
        help="Take the service's account factory even if it is not this release's.",
    ),
]
Account = Annotated[
    str | None,
    typer.Option(
        "--account",
        metavar="ADDRESS",
        envvar="HOLDFAST_ACCOUNT",
        help="The account, if another key than the vault's created it.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One line of JSON, for machines.")]

PaymasterUrl = Annotated[
    str | None,
    typer.Option("--paymaster", metavar="URL", envvar="HOLDFAST_PAYMASTER_URL", help="Who pays for gas (ERC-7677)."),
]
RpcUrl = Annotated[
    str | None,
    typer.Option("--rpc", metavar="URL", envvar="HOLDFAST_CLIENT_RPC_URL", help="The chain's JSON-RPC, for fees."),
]


def gas_policy(paymaster: str | None, rpc: str | None) -> GasPolicy:
    """Return the gas policy that the options describe. Raises ValueError."""
    from holdfast.client.flows.gas import GasPolicy

    return GasPolicy(paymaster_url=paymaster, rpc_url=rpc)


def say(text: str) -> None:
    """Print progress for people to stderr, so that stdout contains only the result."""
    write(sys.stderr, for_terminal(text))


class _Said(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


if not waiting.log.handlers:
    waiting.log.addHandler(_Said())
    waiting.log.setLevel(logging.INFO)
    waiting.log.propagate = False


def ask_code(message: str) -> str:
    """Return the code that was sent to the person."""
    say(message)
    return str(typer.prompt("Code", err=True, default="", show_default=False))


_REMEDIES = {
    "invitation_required": "name the code with which you were invited: --invitation CODE",
    "invitation_invalid": "the code is unknown, expired or used up: ask for another, and name it: --invitation CODE",
    "registration_closed": "this service takes no one at present",
}


_DOWN = 500  # an HTTP status from this one on is not about the request
NO_VAULT = "there is no vault here yet: holdfast vault create, or name its folder: --vault-dir"
HAS_VAULT = "there is a vault here already: use --vault-dir to choose another folder"


class NoVault(Exception):
    """The folder has no vault."""


def exit_of(error: Exception, refused: Exit = Exit.FAILED) -> Exit:
    """Return `refused` for a refusal, and UNAVAILABLE if the service or an upstream failed, or a disk is full."""
    from holdfast.wire.client_errors import NetworkError
    from holdfast.wire.sqlite_errors import is_of_disk

    status = getattr(error, "status", None) or _DOWN
    failed = status >= _DOWN if isinstance(error, NetworkError) else is_of_disk(error.__cause__)
    return Exit.UNAVAILABLE if failed else refused


def words_of(error: ServiceError) -> str:
    """Return what an error says and, if known, what helps."""
    remedy, wait = _REMEDIES.get(getattr(error, "code", None) or ""), getattr(error, "retry_after_s", None)
    if remedy is None and wait:
        remedy = f"try again in {math.ceil(wait)} seconds"
    return f"{error}: {remedy}" if remedy else str(error)


@contextmanager
def plain_errors(*, as_json: bool) -> Iterator[None]:
    """Turn any of the client's errors into a one-line message and an exit code."""
    from holdfast.client.flows.gas import NoEndpoint
    from holdfast.wire.client_errors import NetworkError, ServiceError

    try:
        yield
    except NoEndpoint as error:
        fail(
            Exit.UNAVAILABLE,
            str(NoEndpoint(error.why, "name the chain's endpoint (--rpc URL)", main=error.main)),
            as_json=as_json,
        )
    except NetworkError as error:
        fail(exit_of(error), words_of(error), as_json=as_json)
    except NoVault as error:
        fail(Exit.NOT_FOUND, str(error), as_json=as_json)
    except ServiceError as error:
        fail(exit_of(error), str(error), as_json=as_json)
    except ValueError as error:
        what, space, why = str(error).partition(" ")
        fail(exit_of(error, Exit.USAGE), f"{_OPTIONS.get(what, what)}{space}{why}", as_json=as_json)


@contextmanager
def stored_vaults(folder: Path | None, *, new: bool = True, reads: bool = False) -> Iterator[VaultStore]:
    """Keep the vault store open while the command runs; first end an unlock period that has expired.

    `new`: it may be one that does not exist yet. Otherwise, that raises NoVault. `reads`: it may be one that this user
    can only read, as on a read-only disk, whose unlock period then ends the next time.
    """
    from holdfast.client.storage.vault_store import VaultStore, store_path
    from holdfast.client.types import VaultStoreConfig

    path = store_path(VaultStoreConfig(), folder)
    if not new and not path.exists():
        raise NoVault(NO_VAULT)
    read_only = reads and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    with VaultStore(directory=folder, read_only=read_only) as store:
        if not read_only:
            sessions.end_if_over(store, folder)
        yield store


@contextmanager
def new_vault(folder: Path | None) -> Iterator[tuple[VaultStore, Vault]]:
    """Yield a store without a vault, and the vault that goes there. Raises ClientStateError for one that has a vault.

    No command chooses among several.
    """
    from holdfast.client.blocking.vault import Vault
    from holdfast.wire.client_errors import ClientStateError

    with stored_vaults(folder) as store, Vault(store) as vault:
        if store.dids():
            raise ClientStateError(HAS_VAULT)
        yield store, vault


@contextmanager
def opened_vault(folder: Path | None, key: str, service: str, val_share: Path | None = None) -> Iterator[Vault]:
    """Yield the stored vault, unlocked with the secret of the unlock period or else with the key. Changes are stored.

    `val_share`: the file with the second share, if the vault does not keep it.
    """
    from holdfast.client.blocking.vault import Vault

    with stored_vaults(folder, new=False) as store, Vault(store, val_share=share_source(val_share)) as vault:
        open_stored(vault, store, folder, key, service)
        yield vault
        client_snapshots.bring_up(vault, store, service)


def open_stored(vault: Vault, store: VaultStore, folder: Path | None, key: str, service: str) -> None:
    """Unlock the stored vault with the secret of the unlock period or else with the key. No service is asked.

    Raises NoVault, ClientStateError, and the key's errors.
    """
    if store.load() is None:
        raise NoVault(NO_VAULT)
    period = sessions.live(folder)
    if period is None or not vault.unlock(period.key).success:
        unlock(vault, key_provider(key, service, store))
        sessions.take_away(vault)  # its file is missing: the system emptied the folder, or the vault was moved


def unlock(vault: Vault, key: KeyProvider) -> None:
    """Unlock the vault, or raise ClientStateError with the enclave's error."""
    from holdfast.wire.client_errors import ClientStateError

    outcome = vault.unlock(key)
    if not outcome.success:
        remedy = ": try again, or name another key with --key" if outcome.error == "wrong_key" else ""
        raise ClientStateError(f"the vault cannot be unlocked ({outcome.error}){remedy}")


def key_provider(kind: str, service: str, store: VaultStore | None = None, *, new: bool = False) -> KeyProvider:
    """Return a key of the given kind. Raises ValueError for an unknown kind."""
    from holdfast.client.passkeys import PasskeyKey
    from holdfast.client.vault.keys import KeyringKey, PasswordKey

    if kind == "password":
        return PasswordKey(lambda: ask_password("Password of the vault", VAULT_PASSWORD, new=new))
    if kind == "keyring":
        return KeyringKey(create=new)
    if kind == "passkey":
        noted = store.note("passkey") if store else None
        if noted is None:
            raise ValueError("--key passkey: this vault was not made with a security key")
        return PasskeyKey(security_key(service, passkey_device(store)), noted)
    raise ValueError("--key: password, keyring or passkey")


def contracts_of(service: str, *, foreign: bool) -> dict[str, Any]:
    """Return the service's contracts for a new vault's account. `foreign`: they may be others than this release's.

    If the service does not respond, return an empty result, so that the vault uses this release's contracts. Raises
    ForeignContracts.
    """
    from holdfast.client.blocking.service_client import ServiceClient
    from holdfast.client.http.calls import Retries
    from holdfast.wire.client_errors import NetworkError

    try:
        with ServiceClient(service, timeout=_ASKING_S, retries=Retries(attempts=1)) as client:
            return client.contracts().for_vault(foreign=foreign)
    except NetworkError:
        say(f"{service} does not answer: the account uses this release's contracts")
        return {}


def compare_account(service: str, made: Generated) -> None:
    """Raise ClientStateError if the service predicts an account other than the vault's, which follows from its key."""
    from holdfast.client.blocking.service_client import ServiceClient
    from holdfast.client.http.calls import Retries
    from holdfast.wire.client_errors import ClientStateError, NetworkError

    shown = made.accounts[0].address
    try:
        with ServiceClient(service, timeout=_ASKING_S, retries=Retries(attempts=1)) as client:
            predicted = client.get_smart_account_address(made.pubkey_x or "", made.pubkey_y or "")
    except NetworkError:
        return
    if predicted.lower() != shown.lower():
        raise ClientStateError(
            f"the vault was created with the account {shown}, but the service predicts the account {predicted}: its "
            "contracts are not what it says, so use this vault with another service"
        )


def security_key(service: str, device: SoftwareAuthenticator | None = None) -> Authenticator:
    """Return the security key that is plugged in, or the given device. The key's prompts are printed on stderr."""
    from holdfast.client.passkeys import Authenticator

    return Authenticator(service, device, on_progress=say if device is None else None, ask_pin=ask_pin)


def software_key(store: VaultStore | None, *, new: bool = False) -> SoftwareAuthenticator | None:
    """Return the software authenticator whose file is next to the vault, or None if none exists and it is not new."""
    if store is None:
        return None
    from holdfast.client.software_authenticator import SoftwareAuthenticator

    file = store.path.with_name("passkeys.json")
    return SoftwareAuthenticator(file) if new or file.exists() else None


def passkey_device(store: VaultStore | None) -> SoftwareAuthenticator | None:
    """Return the software authenticator next to the vault; None if the vault's passkey is on a security key."""
    file, noted = software_key(store), store.note("passkey") if store else None
    return file if file and (noted is None or file.holds(noted)) else None


def passkey_sources(service: str, store: VaultStore | None) -> list[Authenticator]:
    """Return what may have passkeys: the file next to the vault, if it exists, then the security key."""
    file = software_key(store)
    return [*([security_key(service, file)] if file else []), security_key(service)]


def ask_password(what: str, variable: str, *, new: bool = False) -> str:
    """Return a password from an environment variable, or else read it from the terminal without echo.

    Raises ValueError for a new password that is too weak.
    """
    from holdfast.client.vault.passwords import checked_password

    given = os.environ.get(variable) or _typed_password(what, variable, new=new)
    return checked_password(given, min_password()) if new else given


def _typed_password(what: str, variable: str, *, new: bool) -> str:
    try:
        return _hidden(what, confirmation_prompt=new)
    except typer.Abort:
        if is_terminal():
            raise
        raise ValueError(f"there is no terminal to ask on: set {variable}") from None


def min_password() -> int:
    """Return the minimum length of a new password. Raises ValueError if the setting for it is not a number."""
    from holdfast.client.vault.passwords import MIN_CHARACTERS

    text = os.environ.get(MIN_PASSWORD) or str(MIN_CHARACTERS)
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"{MIN_PASSWORD} must be a number of characters")
    return int(text)


def share_source(file: Path | None) -> ShareSource | None:
    """Return a function that reads the second share from its file when a key is used, or None if no file was given."""
    return partial(_read_share, file) if file else None


def share_keeper(file: Path | None) -> ShareKeeper | None:
    """Return a function that writes a new vault's second share to a new file, or None if no file was given."""
    return partial(_write_share, file) if file else None


def ask_pin() -> str:
    """Ask for a security key's PIN, only on the terminal, because a few wrong PINs block the key permanently."""
    return _hidden("PIN of the security key")


def _hidden(what: str, **more: Any) -> str:
    """Return what is typed without echo or, without a terminal, read in silence: getpass would warn of an echo."""
    with (
        warnings.catch_warnings(action="ignore", category=getpass.GetPassWarning),
        nullcontext() if _has_terminal() else redirect_stderr(io.StringIO()),
    ):
        return str(typer.prompt(what, hide_input=True, err=True, **more))


def _has_terminal() -> bool:
    """Return whether getpass finds a terminal: the process's, wherever stdin comes from."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return is_terminal()
    return True


def _read_share(file: Path) -> str:
    try:
        return read_private(file).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} cannot be read as a second share") from error


def _write_share(file: Path, shares: EncryptedShares) -> None:
    from holdfast.client.types import payload_bytes

    write_private(file, base64.b64encode(payload_bytes(shares.val_share)) + b"\n", replace=False)

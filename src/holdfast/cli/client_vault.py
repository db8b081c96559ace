"""What the vault's commands share: which vault, which key, and how long it stays open between commands."""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import platformdirs
import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import fail

if TYPE_CHECKING:
    from holdfast.client.flows.gas import GasPolicy
    from holdfast.client.passkeys import Authenticator
    from holdfast.client.storage.vault_store import VaultStore
    from holdfast.client.vault.keys import KeyProvider
    from holdfast.client.vault.vault import Vault

DEFAULT_SERVICE = "http://localhost:8787"
VAULT_PASSWORD = "HOLDFAST_VAULT_PASSWORD"  # noqa: S105 - the variable's name
EXPORT_PASSWORD = "HOLDFAST_EXPORT_PASSWORD"  # noqa: S105 - the variable's name
SESSION_ID = "session"
_SESSION_FILE = "holdfast-session.json"

Service = Annotated[str, typer.Option("--service", metavar="URL", envvar="HOLDFAST_SERVICE_URL", help="The service.")]
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
    """What the options say about gas. Raises ValueError."""
    from holdfast.client.flows.gas import GasPolicy

    return GasPolicy(paymaster_url=paymaster, rpc_url=rpc)


def say(text: str) -> None:
    """Progress, for people: on stderr, so that output stays clean."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


@contextmanager
def plain_errors(*, as_json: bool) -> Iterator[None]:
    """What the client raises, as one line and an exit code."""
    from holdfast.wire.client_errors import NetworkError, ServiceError

    try:
        yield
    except NetworkError as error:
        code = Exit.UNAVAILABLE if getattr(error, "status", None) is None else Exit.FAILED
        fail(code, str(error), as_json=as_json)
    except ServiceError as error:
        fail(Exit.FAILED, str(error), as_json=as_json)
    except ValueError as error:
        fail(Exit.USAGE, str(error), as_json=as_json)


@contextmanager
def stored_vaults(folder: Path | None) -> Iterator[VaultStore]:
    """The store, held while the command runs."""
    from holdfast.client.storage.vault_store import VaultStore

    with VaultStore(directory=folder) as store:
        yield store


@contextmanager
def opened_vault(folder: Path | None, key: str, service: str) -> Iterator[Vault]:
    """The stored vault, open: by a session that `vault unlock` began, else by the key. What changed is stored."""
    from holdfast.client.vault.vault import Vault
    from holdfast.wire.client_errors import ClientStateError

    with stored_vaults(folder) as store, Vault(store) as vault:
        if store.load() is None:
            raise ClientStateError("there is no vault here yet: holdfast vault create")
        session = session_key(folder)
        if session is None or not vault.unlock(session).success:
            unlock(vault, key_provider(key, service, store))
        yield vault


def unlock(vault: Vault, key: KeyProvider) -> None:
    """Open, or say what the enclave said. Raises ClientStateError."""
    from holdfast.wire.client_errors import ClientStateError

    outcome = vault.unlock(key)
    if not outcome.success:
        raise ClientStateError(f"the vault does not open ({outcome.error})")


def key_provider(kind: str, service: str, store: VaultStore | None = None, *, new: bool = False) -> KeyProvider:
    """The key of that kind. Raises ValueError for another word."""
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
        return PasskeyKey(security_key(service), noted)
    raise ValueError("--key: password, keyring or passkey")


def security_key(service: str) -> Authenticator:
    """The plugged-in security key, with prompts on stderr."""
    from holdfast.client.passkeys import Authenticator

    return Authenticator(service, on_progress=say, ask_pin=ask_pin)


def ask_password(what: str, variable: str, *, new: bool = False) -> str:
    """A password from an environment variable, else from the terminal, without echo."""
    given = os.environ.get(variable)
    return given or str(typer.prompt(what, hide_input=True, confirmation_prompt=new, err=True))


def ask_pin() -> str:
    """A security key's PIN: from the terminal alone, for a few wrong ones lock the key for good."""
    return str(typer.prompt("PIN of the security key", hide_input=True, err=True))


def session_key(folder: Path | None) -> Any:
    """The key of a session that is not over, or None."""
    from holdfast.client.vault.keys import SecretKey

    with suppress(OSError, ValueError, KeyError):
        noted = json.loads(session_file(folder).read_text())
        if noted["until"] > time.time():
            return SecretKey(bytes.fromhex(noted["secret"]), SESSION_ID)
    return None


def begin_session(vault: Vault, folder: Path | None, minutes: int) -> None:
    """Let commands open the vault for a while: one more wrap, whose secret lies in a file of the user's alone."""
    from holdfast.client.vault.keys import SecretKey

    end_session(vault, folder)
    secret = secrets.token_bytes(32)
    vault.add_key(SecretKey(secret, SESSION_ID))
    file = session_file(folder)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as out:
        json.dump({"secret": secret.hex(), "until": time.time() + 60 * minutes}, out)


def end_session(vault: Vault, folder: Path | None) -> None:
    """Take the session's wrap and its file away."""
    if any(wrap.get("id") == SESSION_ID for wrap in vault.keys().wraps):
        vault.remove_key("secret", SESSION_ID)
    session_file(folder).unlink(missing_ok=True)


def session_file(folder: Path | None) -> Path:
    """Where a session's secret lies: in the user's runtime folder, which the system empties at logout."""
    if folder is not None:
        return folder / _SESSION_FILE
    return Path(platformdirs.user_runtime_dir("holdfast")) / _SESSION_FILE

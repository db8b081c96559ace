"""Options that name the second key of an account where two owners must sign, and that key."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.key_file import read_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.client.flows.second_key import SecondKey

SECOND_PASSWORD = "HOLDFAST_SECOND_VAULT_PASSWORD"  # noqa: S105 - the variable's name

SecondVault = Annotated[
    Path | None,
    typer.Option("--second-vault", metavar="DIR", help="Where two owners must sign: the folder of the other's vault."),
]
SecondPasskey = Annotated[
    str | None,
    typer.Option("--second-passkey", metavar="SIGNER", help="The same: an owner that is a passkey on a security key."),
]
SecondFile = Annotated[
    Path | None,
    typer.Option("--second-key", metavar="FILE", help="The same: a file with the private key of an address, in hex."),
]


@contextmanager
def second_key(
    vault: Path | None, passkey: str | None, file: Path | None, service: str, *, as_json: bool
) -> Iterator[SecondKey]:
    """Yield the second key that the options name; one without a signer if they name none. Raises ValueError."""
    from holdfast.client.account import second_keys
    from holdfast.client.account.values import signer_of
    from holdfast.client.flows.failures import OperationFailed
    from holdfast.client.flows.second_key import SecondKey, SecondKeyMissing

    if sum(each is not None for each in (vault, passkey, file)) > 1:
        raise ValueError("name one second key: --second-vault, --second-passkey or --second-key")
    with ExitStack() as opened:
        if vault is not None:
            made = opened.enter_context(_unlocked(vault, service))
        elif passkey is not None:
            made = second_keys.key_of_passkey(signer_of(passkey), common.security_key(service).assertions)
        else:
            made = SecondKey() if file is None else second_keys.key_of_address(read_key(file, as_json=as_json))
        try:
            yield made
        except SecondKeyMissing as error:
            raise OperationFailed(f"{error}: name it with --second-vault, --second-passkey or --second-key") from error


@contextmanager
def _unlocked(folder: Path, service: str) -> Iterator[SecondKey]:
    """Unlock the vault in a folder with its security key, or else with its password."""
    from holdfast.client.account.second_keys import key_of_vault
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.vault.keys import PasswordKey
    from holdfast.wire.client_errors import ClientStateError

    with common.stored_vaults(folder) as store, Vault(store) as vault:
        if store.load() is None:
            raise ClientStateError(f"there is no vault in {folder}")
        password = PasswordKey(lambda: common.ask_password("Password of the second vault", SECOND_PASSWORD))
        common.unlock(vault, common.key_provider("passkey", service, store) if store.note("passkey") else password)
        yield key_of_vault(vault)

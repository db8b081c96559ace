"""What the commands of `holdfast account` share: options, the signers that people name, and a client for a service."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.addresses import url_options
from holdfast.cli.client_vault import (
    DEFAULT_SERVICE,
    Account,
    AsJson,
    Folder,
    ForeignContracts,
    Key,
    PaymasterUrl,
    RpcUrl,
    Service,
)
from holdfast.cli.second_keys import SecondFile, SecondPasskey, SecondVault, second_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.client.blocking.client import Client
    from holdfast.client.blocking.vault import Vault
    from holdfast.client.flows.second_key import SecondKey

_P256_KEY = b"\x80\x24"  # multicodec p256-pub, as a varint
_COMPRESSED = 35

Also = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        metavar="URL",
        callback=lambda urls: url_options("--also", urls),
        help="Another service, to whose main chain the change is brought too; repeatable.",
    ),
]
OwnerPasskey = Annotated[
    bool, typer.Option("--owner-passkey", help="Not the vault signs, but an owner that is a passkey on a security key.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Signer = Annotated[
    str,
    typer.Argument(metavar="SIGNER", help="A did:key, as whoami --json prints it, an address, or 0x and a key."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountOptions:
    """Which vault acts for which account through which service: options of every command."""

    service: Service = DEFAULT_SERVICE
    folder: Folder = None
    key: Key = "password"
    account: Account = None
    rpc: RpcUrl = None
    foreign: ForeignContracts = False
    as_json: AsJson = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Paying(AccountOptions):
    """The same for a command that sends an operation: also who pays for its gas."""

    paymaster: PaymasterUrl = None
    second_vault: SecondVault = None
    second_passkey: SecondPasskey = None
    second_file: SecondFile = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ByAnyOwner(Paying):
    """The same for a change that an owner may sign that is not the vault."""

    owner_passkey: OwnerPasskey = False


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that are the fields of its last parameter, `options`, and pass them to it as one."""
    parameters = inspect.signature(command, eval_str=True).parameters
    kind = parameters["options"].annotation
    names = [field.name for field in fields(kind)]

    @functools.wraps(command)
    def with_all(**given: object) -> None:
        options = {name: given.pop(name) for name in names}
        command(**given, options=kind(**options))

    own = [parameter for parameter in parameters.values() if parameter.name != "options"]
    options = inspect.signature(kind, eval_str=True).parameters.values()
    with_all.__signature__ = inspect.Signature([*own, *options])  # type: ignore[attr-defined]
    return with_all


@contextmanager
def opened(options: AccountOptions) -> Iterator[Client]:
    """Yield a client with the unlocked vault. Errors end the command with a message and an exit code."""
    with (
        common.plain_errors(as_json=options.as_json),
        common.opened_vault(options.folder, options.key, options.service) as vault,
        second_of(options) as second,
        client_of(options, vault, options.service, second) as client,
    ):
        yield client


@contextmanager
def client_of(options: AccountOptions, vault: Vault, service: str, second: SecondKey | None) -> Iterator[Client]:
    """Yield a client of a service with an open vault. `--rpc` and `--paymaster` are those of `--service` alone."""
    from holdfast.client.blocking.client import Client

    own = service == options.service
    paymaster = options.paymaster if isinstance(options, Paying) else None
    gas = common.gas_policy(paymaster if own else None, options.rpc if own else None)
    foreign, account = options.foreign, options.account
    with Client(
        service, vault=vault, gas=gas, account=account, foreign_contracts=foreign, second_key=second, timeout=30
    ) as client:
        yield client


def second_of(options: AccountOptions) -> AbstractContextManager[SecondKey]:
    """Yield the second key that the options name. Raises ValueError."""
    if not isinstance(options, Paying):
        return second_key(None, None, None, options.service, as_json=options.as_json)
    vault, passkey, file = options.second_vault, options.second_passkey, options.second_file
    return second_key(vault, passkey, file, options.service, as_json=options.as_json)


def signer_named(text: str) -> bytes:
    """Return the signer that a did:key, an address or hex names. Raises ValueError."""
    from holdfast.client.account.values import signer_of

    return _of_did_key(text) if text.startswith("did:") else signer_of(text)


def signer_at(client: Client, text: str) -> bytes:
    """Return the signer that a text names; `service` is the service's key as a guardian. Raises ValueError."""
    if text != "service":
        return signer_named(text)
    keys = client.service_guardian_keys()
    if not keys:
        raise ValueError("this service does not act as a guardian")
    return keys[0]


def _of_did_key(did: str) -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec

    from holdfast.chain.signers import p256_signer
    from holdfast.content.bases import from_multibase

    kind, _, text = did.removeprefix("did:").partition(":")
    key = from_multibase(text) if kind == "key" else b""
    if len(key) != _COMPRESSED or not key.startswith(_P256_KEY):
        raise ValueError("a signer is the did:key of a P-256 key, an address, or 0x and a key")
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key[2:]).public_numbers()
    return p256_signer(point.x, point.y)

"""holdfast vault delegate and revoke: let another DID act on behalf of the vault, and revoke that permission."""

from __future__ import annotations

import re
import time
from typing import Annotated, Any

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, Key, Service, ValShare
from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail

_COMMAND = re.compile(r"/|(/[^/\x00-\x20A-Z\x7f]+)+")
_DID = re.compile(r"did:[a-z0-9]+:[\w.:%-]+", re.ASCII)
_MOST = 2**64 - 1  # in a token's limits
_MOST_HOURS = 10_000_000.0  # a thousand years


def delegate(  # noqa: PLR0913, PLR0917 - each is an option of the command
    to: Annotated[str, typer.Argument(metavar="DID", help="Who may act.")],
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="What, as /resource/action.")],
    hours: Annotated[float, typer.Option(min=0.01, max=_MOST_HOURS, help="For how long.")] = 24.0,
    at_most: Annotated[
        int | None, typer.Option(min=1, max=_MOST, metavar="AMOUNT", help="Payments: at most so much each.")
    ] = None,
    in_total: Annotated[
        int | None, typer.Option(min=1, max=_MOST, metavar="AMOUNT", help="Payments: so much in all.")
    ] = None,
    payee: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Payments: to this address alone.")] = None,
    token: Annotated[str | None, typer.Option(help='Payments: of this ERC-20 token alone, or "native".')] = None,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    val_share: ValShare = None,
    as_json: AsJson = False,
) -> None:
    """Delegate a command on this vault to another DID, within limits. Prints the token.

    The options that limit payments require the command /accounts/pay. Each token is counted separately.
    """
    from holdfast.client.types import DelegationOptions

    policy = _payment_policy(at_most, in_total, payee, token)
    if policy and command != "/accounts/pay":
        fail(Exit.USAGE, "limits on payments go with the command /accounts/pay", as_json=as_json)
    if not _COMMAND.fullmatch(command):
        fail(Exit.USAGE, "COMMAND: /resource/action in small letters, such as /accounts/pay", as_json=as_json)
    if not _DID.fullmatch(to):
        fail(Exit.USAGE, "DID: did:, a method and an identifier, such as did:key:z…", as_json=as_json)
    given = DelegationOptions(
        to=to, command=command, expiration=int(time.time() + hours * 3600), caveats={"policy": policy}
    )
    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service, val_share) as vault:
        made = vault.mint_delegation(given)
        emit({"cid": made.cid, "token": made.container}, made.container, as_json=as_json)


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
    """Return the UCAN policy statements for the options, with addresses in canonical form.

    Raises BadParameter for an invalid address.
    """
    statements: list[Any] = [["<=", ".amount", at_most]] if at_most is not None else []
    statements += [["<=", ".total", in_total]] if in_total is not None else []
    statements += [["==", ".to", _address(payee)]] if payee is not None else []
    if token is not None:
        statements += [["==", ".token", token if token == "native" else _address(token)]]  # noqa: S105 - a currency
    return statements


def _address(text: str) -> str:
    from holdfast.client.flows.accounts import address_in

    try:
        return address_in(text, text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None

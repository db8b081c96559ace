"""holdfast register."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import client_snapshots
from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import (
    DEFAULT_SERVICE,
    AsJson,
    Folder,
    ForeignContracts,
    Key,
    PaymasterUrl,
    RpcUrl,
    Service,
    ValShare,
    gas_policy,
)
from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail

if TYPE_CHECKING:
    from holdfast.client.flows.registration import Registration

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def register(  # noqa: PLR0913, PLR0917 - each is an option of the command
    handle: Annotated[str | None, typer.Option(help="A name of your choice.")] = None,
    email: Annotated[str | None, typer.Option(help="An e-mail address; a code is sent there.")] = None,
    sms: Annotated[str | None, typer.Option(help="A phone number (+43…); a code is sent there.")] = None,
    invitation: Annotated[str | None, typer.Option(help="A code, if the service admits people by invitation.")] = None,
    paymaster: PaymasterUrl = None,
    rpc: RpcUrl = None,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    val_share: ValShare = None,
    foreign: ForeignContracts = False,
    as_json: AsJson = False,
) -> None:
    """Register the vault's DID under one identifier. After an interruption, run the command again to continue."""
    from holdfast.client.blocking.client import Client

    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service, val_share) as vault:
        gas = gas_policy(paymaster, rpc)
        headers = {"Holdfast-Invitation": invitation} if invitation else None
        with Client(service, vault=vault, gas=gas, foreign_contracts=foreign, timeout=30, headers=headers) as client:
            made = client.register(handle=handle, email=email, sms=sms, code=common.ask_code, on_progress=common.say)
        client_snapshots.begin(vault.store, service)
        if not _is_of(made, {"handle": handle, "email": email, "sms": sms}):
            fail(Exit.FAILED, f"nothing was done: the vault is registered as {made.identifier}", as_json=as_json)
        text = f"{made.identifier} is {made.did}"
        emit(made.to_json(), f"{text}\naccount {made.smart_account}" if made.smart_account else text, as_json=as_json)


def _is_of(made: Registration, given: dict[str, str | None]) -> bool:
    """Return whether the registration is of the identifier that the person asked for."""
    from holdfast.rules.identifiers import Channel, parse_identifier
    from holdfast.wire.errors import Refused

    try:
        of = [parse_identifier(it or "", Channel(made.channel)).key for it in (given[made.channel], made.identifier)]
    except Refused:
        return False
    return of[0] == of[1]

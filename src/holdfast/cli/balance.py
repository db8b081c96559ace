"""holdfast balance."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, ForeignContracts, Key, Service
from holdfast.cli.output import emit

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def balance(  # noqa: PLR0913, PLR0917 - each is an option of the command
    account: Annotated[str | None, typer.Argument(help="An address; the vault's smart account unless given.")] = None,
    token: Annotated[str, typer.Option(help="ETH or USDC.")] = "USDC",  # noqa: S107 - a currency
    chain: Annotated[int | None, typer.Option(help="The chain's ID; the service's main chain unless given.")] = None,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    foreign: ForeignContracts = False,
    as_json: AsJson = False,
) -> None:
    """Print an account's balance."""
    from holdfast.client.blocking.client import Client

    with common.plain_errors(as_json=as_json), Client(service) as client:
        shown = ""
        if account is None:
            with (
                common.opened_vault(folder, key, service) as vault,
                Client(service, vault=vault, foreign_contracts=foreign) as own,
            ):
                account = own.smart_account_address()
            shown = f"account {account}\n"
        chain = chain or client.status().chain_id
        found = client.balance(account, token, chain)
        money = client.money_on(chain)
        text = f"{shown}{found.formatted} {found.symbol} on {money}"
        emit({"account": account, **found.to_json()}, text, as_json=as_json)

"""holdfast balance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, ForeignContracts, Key, Service
from holdfast.cli.output import emit

if TYPE_CHECKING:
    from holdfast.client.blocking.client import Client

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def balance(  # noqa: PLR0913, PLR0917 - each is an option of the command
    account: Annotated[str | None, typer.Argument(help="An address; the vault's smart account unless given.")] = None,
    token: Annotated[str | None, typer.Option(help="ETH or USDC; both unless given.")] = None,
    chain: Annotated[int | None, typer.Option(help="The chain's ID; the service's main chain unless given.")] = None,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    foreign: ForeignContracts = False,
    as_json: AsJson = False,
) -> None:
    """Print what an account has, in the chain's coin and in USDC."""
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
        found = [client.balance(account, one, chain) for one in ([token] if token else _tokens(client, chain))]
        text = f"{shown}{' and '.join(f'{it.formatted} {it.symbol}' for it in found)} on {client.money_on(chain)}"
        values: dict[str, Any] = found[0].to_json() if token else {"balances": [it.to_json() for it in found]}
        emit({"account": account, **values}, text, as_json=as_json)


def _tokens(client: Client, chain: int) -> list[str]:
    has_usdc = any(it.chain_id == chain and it.usdc for it in client.chains().chains)
    return ["ETH", "USDC"] if has_usdc else ["ETH"]

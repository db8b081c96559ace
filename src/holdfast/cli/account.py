"""holdfast account: owners, guardians and permissions of the smart account."""

from __future__ import annotations

import typer

from holdfast.cli import account_changes
from holdfast.cli.account_keys import guardians, owners
from holdfast.cli.account_options import Also, Asked
from holdfast.cli.account_permissions import permissions
from holdfast.cli.account_recovery import recover
from holdfast.cli.client_vault import (
    DEFAULT_SERVICE,
    Account,
    AsJson,
    Folder,
    ForeignContracts,
    Key,
    RpcUrl,
    Service,
)
from holdfast.cli.exits import Exit
from holdfast.cli.output import fail

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Who owns the account, and who may spend."
)
app.add_typer(owners, name="owners")
app.add_typer(guardians, name="guardians")
app.add_typer(permissions, name="permissions")
app.add_typer(recover, name="recover")


@app.command()
def bring(  # noqa: PLR0913, PLR0917 - each is an option of the command
    also: Also = None,
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    account: Account = None,
    rpc: RpcUrl = None,
    foreign: ForeignContracts = False,
    as_json: AsJson = False,
) -> None:
    """Bring all changes that are on --service's chain to the chains of --also, which lack some of them."""
    if not also:
        fail(Exit.USAGE, "name the other chains' services with --also", as_json=as_json)
    asked = Asked(service=service, folder=folder, key=key, account=account, rpc=rpc, foreign=foreign, as_json=as_json)
    account_changes.bring(asked, also)

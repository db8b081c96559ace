"""holdfast account: owners, guardians and permissions of the smart account."""

from __future__ import annotations

import typer

from holdfast.cli import account_changes
from holdfast.cli.account_did import did
from holdfast.cli.account_keys import guardians, owners
from holdfast.cli.account_options import AccountOptions, Also, with_options
from holdfast.cli.account_permissions import permissions
from holdfast.cli.account_recovery import recover

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Who owns the account, and who may spend."
)
app.add_typer(did, name="did")
app.add_typer(owners, name="owners")
app.add_typer(guardians, name="guardians")
app.add_typer(permissions, name="permissions")
app.add_typer(recover, name="recover")


@app.command()
@with_options
def bring(also: Also = None, *, options: AccountOptions) -> None:
    """Bring all changes that are on --service's main chain to its other chains, and to those of --also."""
    account_changes.bring(options, also or ())

"""`holdfast invitation`: codes with which people may register if HOLDFAST_REGISTRATION is `invitation`."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.identifier import Operator, with_tasks
from holdfast.cli.listings import print_rows
from holdfast.cli.output import emit
from holdfast.cli.settings import AsJson, EnvFile
from holdfast.rules.invitations import MAX_DAYS, MAX_USES
from holdfast.wire.admin_endpoints import NewInvitation, OfInvitation, ReadPage, Reissue

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Invite people to register.")
Days = Annotated[int, typer.Option(min=1, max=MAX_DAYS, help="For how many days it is valid.")]
Code = Annotated[str, typer.Argument(help="As it was printed, or its number in the list.")]


@app.command()
def new(
    uses: Annotated[int, typer.Option(min=1, max=MAX_USES, help="How many registrations it admits.")] = 1,
    days: Days = 14,
    operator: Operator = None,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Print a new invitation code, and the address of the pages that contains it."""
    given = NewInvitation(uses=uses, days=days)
    made = with_tasks(lambda tasks, by: tasks.invite(given, by), env_file, operator, as_json=as_json)
    emit(made, f"{made['code']}\n{made['address']}", as_json=as_json)


@app.command()
def revoke(code: Code, operator: Operator = None, env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Use up what is left of an invitation code, so that it admits no one any more."""
    given = OfInvitation(code=code)
    done = with_tasks(lambda tasks, by: tasks.revoke_invitation(given, by), env_file, operator, as_json=as_json)
    emit(done, f"revoked; it would have admitted {done['left']} more", as_json=as_json)


@app.command()
def reissue(
    code: Code, days: Days = 14, operator: Operator = None, env_file: EnvFile = None, as_json: AsJson = False
) -> None:
    """Revoke an invitation code, and print a new one for what was left of it."""
    given = Reissue(code=code, days=days)
    made = with_tasks(lambda tasks, by: tasks.reissue_invitation(given, by), env_file, operator, as_json=as_json)
    emit(made, f"{made['code']}\n{made['address']}", as_json=as_json)


@app.command("list")
def list_invitations(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the latest first.")] = 50,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """List invitations that have not expired: number, uses, how many are left, and when."""
    given = ReadPage(limit=limit)
    found = with_tasks(lambda tasks, by: tasks.invitations(given, by), env_file, as_json=as_json)
    print_rows(found, as_json=as_json)

"""`holdfast ban`: names, DIDs, mail domains and networks that may not register."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.identifier import Channel, Operator, with_tasks
from holdfast.cli.listings import print_rows
from holdfast.cli.output import emit
from holdfast.cli.settings import AsJson, EnvFile
from holdfast.wire.admin_endpoints import MAX_PAGE, NewBan, OfBan, ReadPage

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Keep names, DIDs, mail domains and networks from registering.",
)
Kind = Annotated[str, typer.Argument(help="name, did, domain or network.")]
Value = Annotated[str, typer.Argument(help="What is banned, as example.com or 192.0.2.0/24.")]


@app.command()
def add(
    kind: Kind,
    value: Value,
    reason: Annotated[str, typer.Option(help="Why, for other operators.")] = "",
    channel: Channel = "handle",
    operator: Operator = None,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Ban it. What is registered already stays: see `holdfast identifier release`."""
    given = NewBan(kind=kind, value=value, channel=channel, reason=reason)
    done = with_tasks(lambda tasks, by: tasks.ban(given, by), env_file, operator, as_json=as_json)
    emit(done, f"{done['subject']}: {'banned' if done['banned'] else 'was banned'}", as_json=as_json)


@app.command()
def lift(
    kind: Kind,
    value: Value,
    channel: Channel = "handle",
    operator: Operator = None,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Lift a ban."""
    given = OfBan(kind=kind, value=value, channel=channel)
    done = with_tasks(lambda tasks, by: tasks.lift(given, by), env_file, operator, as_json=as_json)
    emit(done, f"{done['subject']}: lifted", as_json=as_json)


@app.command("list")
def list_bans(
    after: Annotated[str, typer.Option(help="Where the list before ended.")] = "",
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Print at most 1000 bans, by kind and value."""
    given = ReadPage(limit=MAX_PAGE, after=after)
    print_rows(with_tasks(lambda tasks, by: tasks.bans(given, by), env_file, as_json=as_json), as_json=as_json)

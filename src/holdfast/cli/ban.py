"""`holdfast ban`: names, DIDs, mail domains and networks that may not register."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.identifier import Channel, Operator, acting, with_store
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import AsJson, EnvFile

if TYPE_CHECKING:
    from holdfast.service.store.administration import Ban

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Keep names, DIDs, mail domains and networks from registering.",
)
Kind = Annotated[str, typer.Argument(help="name, did, domain or network.")]
Value = Annotated[str, typer.Argument(help="What is banned, as example.com or 192.0.2.0/24.")]
_LIMIT = 1000


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
    subject = _subject(kind, value, channel, as_json=as_json)
    by = acting(operator)
    done = with_store(lambda store: store.administration.ban(subject, reason, by), env_file, as_json=as_json)
    emit({"subject": subject, "banned": done}, f"{subject}: {'banned' if done else 'was banned'}", as_json=as_json)


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
    subject = _subject(kind, value, channel, as_json=as_json)
    by = acting(operator)
    if not with_store(lambda store: store.administration.lift(subject, by), env_file, as_json=as_json):
        fail(Exit.NOT_FOUND, f"{subject} is not banned", as_json=as_json)
    emit({"subject": subject, "lifted": True}, f"{subject}: lifted", as_json=as_json)


@app.command("list")
def list_bans(
    after: Annotated[str, typer.Option(help="Where the list before ended.")] = "",
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Print at most 1000 bans, by kind and value."""
    from holdfast.wire.encoding import to_iso

    found: list[Ban] = with_store(lambda store: store.administration.bans(after, _LIMIT), env_file, as_json=as_json)
    rows = [{"subject": ban.subject, "at": to_iso(ban.at), "reason": ban.reason} for ban in found]
    emit(rows, "\n".join("  ".join(row.values()) for row in rows), as_json=as_json)


def _subject(kind: str, value: str, channel: str, *, as_json: bool) -> str:
    from holdfast.rules.bans import ban_subject
    from holdfast.rules.identifiers import Channel as Kinds

    try:
        return ban_subject(kind, value, Kinds(channel))
    except ValueError as error:
        fail(Exit.USAGE, f"this cannot be banned: {error}", as_json=as_json)

"""`holdfast identifier` and `holdfast credential`, with which operators inspect and undo registrations."""

from __future__ import annotations

import asyncio
import getpass
import os
import time
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import confirm, emit, fail
from holdfast.cli.settings import (
    AsJson,
    EnvFile,
    existing_database_or_fail,
    secrets_or_fail,
    settings_or_fail,
    store_or_fail,
)
from holdfast.wire.admin_endpoints import (
    CountDays,
    ListIdentifiers,
    OfCredential,
    OfIdentifier,
    Rename,
    Transfer,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.service.operations.operator_tasks import OperatorTasks
    from holdfast.service.store.administration import By
    from holdfast.service.store.port import Store

T = TypeVar("T")

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="List, count, look at and change identifiers.",
)
credential_app = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Remove a credential's registration."
)
Channel = Annotated[str, typer.Option(help="handle, email or sms.")]
Operator = Annotated[str | None, typer.Option(help="Who you are, for the audit; by default the user of this machine.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command()
def show(
    identifier: Annotated[str, typer.Argument(help="As its owner writes it.")],
    channel: Channel = "handle",
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Print everything stored about an identifier: claim, credentials, verification and history."""
    given = OfIdentifier(identifier=identifier, channel=channel)
    found = with_tasks(lambda tasks, by: tasks.identifier(given, by), env_file, as_json=as_json)
    emit(found, _readable(found), as_json=as_json)


@app.command()
def release(
    identifier: Annotated[str, typer.Argument(help="As its owner writes it.")],
    channel: Channel = "handle",
    operator: Operator = None,
    env_file: EnvFile = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Free an identifier: delete its claim, credentials, codes and verification, but not its history."""
    given = OfIdentifier(identifier=identifier, channel=channel)
    confirm("Release it? Anyone may then register it.", yes=yes, as_json=as_json)
    done = with_tasks(lambda tasks, by: tasks.release(given, by), env_file, operator, as_json=as_json)
    emit(done, "released", as_json=as_json)


@credential_app.callback()
def _group() -> None:
    """Remove a credential's registration."""


@credential_app.command()
def revoke(
    credential_id: Annotated[str, typer.Argument(help="Base64 or base64url.")],
    operator: Operator = None,
    env_file: EnvFile = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Remove a credential's registration. A name without any becomes an open session again; an added address stays."""
    given = OfCredential(credential_id=credential_id)
    confirm("Revoke it? A look-up by this credential then finds nothing.", yes=yes, as_json=as_json)
    done = with_tasks(lambda tasks, by: tasks.revoke_credential(given, by), env_file, operator, as_json=as_json)
    emit(done, "revoked", as_json=as_json)


@app.command("list")
def list_identifiers(  # noqa: PLR0913, PLR0917 - each is an option of the command
    prefix: Annotated[str | None, typer.Option(help="How the name begins, in the channel.")] = None,
    did: Annotated[str | None, typer.Option(help="Only those of this DID.")] = None,
    address: Annotated[str | None, typer.Option(help="Only those that this network address registered.")] = None,
    day: Annotated[str | None, typer.Option(help="Only those claimed on this day (UTC), as 2026-11-24.")] = None,
    state: Annotated[str | None, typer.Option(help="session, registered, pending or confirmed.")] = None,
    channel: Annotated[str | None, typer.Option(help="handle, email or sms.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 50,
    after: Annotated[str | None, typer.Option(help="Where the page before ended.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """List claimed identifiers, the newest first, or with a prefix by name."""
    from holdfast.cli.listings import print_rows

    given = ListIdentifiers(
        prefix=prefix, did=did, address=address, day=day, state=state, channel=channel, limit=limit, after=after
    )
    found = with_tasks(lambda tasks, by: tasks.identifiers(given, by), env_file, as_json=as_json)
    print_rows(found, "identifiers", csv=csv, as_json=as_json)


@app.command()
def counts(
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days, up to today (UTC).")] = 7,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Count for each day and channel what was claimed, and how much of it is registered now."""
    from holdfast.cli.listings import print_rows

    given = CountDays(days=days)
    found = with_tasks(lambda tasks, by: tasks.counts(given, by), env_file, as_json=as_json)
    print_rows(found, csv=csv, as_json=as_json)


@app.command()
def transfer(
    identifier: Annotated[str, typer.Argument(help="As its owner writes it.")],
    did: Annotated[str, typer.Argument(help="The DID that gets it.")],
    channel: Channel = "handle",
    operator: Operator = None,
    env_file: EnvFile = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Give an identifier to another DID. Its credentials are removed, and the DID can then register it."""
    given = Transfer(identifier=identifier, channel=channel, did=did)
    confirm("Transfer it? Its present owner loses it.", yes=yes, as_json=as_json)
    done = with_tasks(lambda tasks, by: tasks.transfer(given, by), env_file, operator, as_json=as_json)
    emit(done, "transferred", as_json=as_json)


@app.command()
def rename(
    identifier: Annotated[str, typer.Argument(help="The handle, as its owner writes it.")],
    new: Annotated[str, typer.Argument(help="The new handle.")],
    operator: Operator = None,
    env_file: EnvFile = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Give a registered handle another name. The alias on the chain stays."""
    given = Rename(identifier=identifier, new=new)
    confirm("Rename it? Anyone may then register the old name.", yes=yes, as_json=as_json)
    done = with_tasks(lambda tasks, by: tasks.rename(given, by), env_file, operator, as_json=as_json)
    emit(done, "renamed", as_json=as_json)


def acting(operator: str | None, *, as_json: bool) -> By:
    """Return who acts now: the named operator, else the user of this machine. Exits with USAGE for a key's name."""
    from holdfast.rules.admin_keys import BY_KEY
    from holdfast.service.store.administration import By

    if operator and operator.startswith(BY_KEY):
        fail(Exit.USAGE, f"{BY_KEY} begins the names of those who act with a key of the admin port", as_json=as_json)
    return By(operator or f"cli:{os.environ.get('SUDO_USER') or _user()}", time.time())


def _user() -> str:
    """Return the user's name; the number if the user has no name, as in the container image."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def with_tasks(
    work: Callable[[OperatorTasks, By], Awaitable[T]],
    env_file: str | None,
    operator: str | None = None,
    *,
    as_json: bool,
) -> T:
    """Return what `work` returns. Exits as `with_store` does, with USAGE for unreadable input, or with NOT_FOUND."""
    from holdfast.service.bootstrap.administration import operator_tasks
    from holdfast.service.operations.administration import NotFound, NotPossible

    by, settings = acting(operator, as_json=as_json), settings_or_fail(env_file, as_json=as_json)

    async def on(store: Store) -> T:  # reads secrets, and may make the data folder, only if there is a database
        return await work(operator_tasks(settings, secrets_or_fail(settings, as_json=as_json), store), by)

    try:
        return with_store(on, env_file, as_json=as_json)
    except NotPossible as error:
        fail(Exit.NOT_FOUND if isinstance(error, NotFound) else Exit.USAGE, str(error), as_json=as_json)


def with_store(work: Callable[[Store], Awaitable[T]], env_file: str | None, *, as_json: bool) -> T:
    """Return what `work` returns with the settings' store. Exits with UNAVAILABLE if the store cannot be used."""
    from holdfast.service.store.port import StoreUnavailable

    settings = settings_or_fail(env_file, as_json=as_json)
    existing_database_or_fail(settings, as_json=as_json)
    store = store_or_fail(settings, as_json=as_json)

    async def once() -> T:
        try:
            return await work(store)
        finally:
            await store.close()

    try:
        return asyncio.run(once())
    except StoreUnavailable as error:
        fail(Exit.UNAVAILABLE, f"the database cannot be used: {error}", as_json=as_json)


def _readable(found: dict[str, Any]) -> str:
    lines: list[str] = []
    for part, value in found.items():
        rows = [value] if isinstance(value, dict) else value or []
        lines.append(f"{part}: {len(rows)}")
        lines += ["  " + ", ".join(f"{name} {_moment(name, cell)}" for name, cell in _said(row)) for row in rows]
    return "\n".join(lines)


def _said(row: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return a row's cells; an operator is named only where one acted."""
    return [cell for cell in row.items() if cell != ("operator", None)]


def _moment(name: str, cell: Any) -> str:
    from holdfast.wire.encoding import to_iso

    return to_iso(cell) if isinstance(cell, float) and (name == "at" or name.endswith("_at")) else str(cell)

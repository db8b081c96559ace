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

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.rules.pseudonyms import Pseudonyms
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
    parsed = parsed_identifier(identifier, channel, as_json=as_json)

    async def work(store: Store) -> dict[str, Any] | None:
        hashed = pseudonyms_or_fail(env_file, as_json=as_json).of_name(*parsed)
        return await _described(store, *parsed, hashed)

    found = with_store(work, env_file, as_json=as_json)
    if found is None:
        fail(Exit.NOT_FOUND, "nothing is known of this identifier", as_json=as_json)
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
    parsed = parsed_identifier(identifier, channel, as_json=as_json)
    confirm("Release it? Anyone may then register it.", yes=yes, as_json=as_json)
    by = acting(operator)
    if not with_store(lambda store: store.administration.release(*parsed, by), env_file, as_json=as_json):
        fail(Exit.NOT_FOUND, "no one holds this identifier", as_json=as_json)
    emit({"released": True}, "released", as_json=as_json)


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
    """Remove one credential's registration. After the last one, the identifier becomes an open session again."""
    from holdfast.rules.dids import parse_credential_id
    from holdfast.wire.errors import Refused

    try:
        folded = parse_credential_id(credential_id)
    except Refused:
        fail(Exit.USAGE, "this is not a credential ID", as_json=as_json)
    confirm("Revoke it? A look-up by this credential then finds nothing.", yes=yes, as_json=as_json)
    by = acting(operator)
    if not with_store(lambda store: store.administration.revoke(folded, by), env_file, as_json=as_json):
        fail(Exit.NOT_FOUND, "no such credential", as_json=as_json)
    emit({"revoked": True}, "revoked", as_json=as_json)


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
    from holdfast.cli.listings import print_identifiers, search_or_fail
    from holdfast.service.operations.administration import page

    asked = {"prefix": prefix, "did": did, "address": address, "day": day, "state": state, "channel": channel}
    search = search_or_fail({**asked, "after": after}, env_file, as_json=as_json)
    rows, following = with_store(lambda store: page(store, search, limit), env_file, as_json=as_json)
    print_identifiers(rows, following, csv=csv, as_json=as_json)


@app.command()
def counts(
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days, up to today (UTC).")] = 7,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Count for each day and channel what was claimed, and how much of it is registered now."""
    from holdfast.cli.listings import print_counts
    from holdfast.service.operations.administration import counts as count

    rows = with_store(lambda store: count(store, days, time.time()), env_file, as_json=as_json)
    print_counts(rows, csv=csv, as_json=as_json)


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
    from holdfast.rules.dids import parse_did
    from holdfast.wire.errors import Refused

    parsed = parsed_identifier(identifier, channel, as_json=as_json)
    try:
        parse_did(did)
    except Refused:
        fail(Exit.USAGE, "this is not a DID", as_json=as_json)
    confirm("Transfer it? Its present owner loses it.", yes=yes, as_json=as_json)
    by = acting(operator)
    if not with_store(lambda store: store.administration.transfer(*parsed, did, by), env_file, as_json=as_json):
        fail(Exit.NOT_FOUND, "no one holds this identifier, or this DID does already", as_json=as_json)
    emit({"transferred": True}, "transferred", as_json=as_json)


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
    from holdfast.rules.identifiers import Channel as Kind
    from holdfast.rules.identifiers import Identifier

    parsed = parsed_identifier(identifier, "handle", as_json=as_json)
    renamed = Identifier(Kind.HANDLE, parsed_identifier(new, "handle", as_json=as_json)[1], new)
    confirm("Rename it? Anyone may then register the old name.", yes=yes, as_json=as_json)
    by = acting(operator)
    if not with_store(lambda store: store.administration.rename(*parsed, renamed, by), env_file, as_json=as_json):
        fail(
            Exit.NOT_FOUND,
            "no one holds this handle, the new one is taken, or a registration still waits for the chain",
            as_json=as_json,
        )
    emit({"renamed": True}, "renamed", as_json=as_json)


def acting(operator: str | None) -> By:
    """Return who acts now: the named operator, else the user of this machine."""
    from holdfast.service.store.administration import By

    return By(operator or f"cli:{os.environ.get('SUDO_USER') or getpass.getuser()}", time.time())


async def _described(store: Store, channel: str, key: str, hashed: str) -> dict[str, Any] | None:
    """Return what is stored about an identifier, with the older part of its history, in which its hash names it."""
    named, older = await store.describe(channel, key), await store.describe(channel, hashed)
    if named is None or older is None:
        return named or older
    return {**named, "history": [*_history(older), *_history(named)]}


def _history(found: dict[str, Any]) -> list[dict[str, Any]]:
    return list(found["history"])


def pseudonyms_or_fail(env_file: str | None, *, as_json: bool) -> Pseudonyms:
    """Return what hashes names in old records. Exits with CONFIGURATION without a signing key."""
    from holdfast.rules.pseudonyms import Pseudonyms

    return Pseudonyms(secrets_or_fail(settings_or_fail(env_file, as_json=as_json), as_json=as_json).pseudonym_key)


def parsed_identifier(identifier: str, channel: str, *, as_json: bool) -> tuple[str, str]:
    """Return channel and canonical key. Exits with USAGE for what is not an identifier."""
    from holdfast.rules.identifiers import parse_channel, parse_identifier
    from holdfast.wire.errors import Refused

    try:
        parsed = parse_identifier(identifier, parse_channel(channel))
    except Refused as refused:
        fail(Exit.USAGE, refused.row.error, as_json=as_json)
    return parsed.channel.value, parsed.key


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

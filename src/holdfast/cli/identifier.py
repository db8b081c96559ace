"""`holdfast identifier` and `holdfast credential`, with which operators inspect and undo registrations."""

from __future__ import annotations

import asyncio
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
    from holdfast.service.store.port import Store

T = TypeVar("T")

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Look at an identifier, or free it."
)
credential_app = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Remove a credential's registration."
)
Channel = Annotated[str, typer.Option(help="handle, email or sms.")]
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
    env_file: EnvFile = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Free an identifier: delete its claim, credentials, codes and verification, but not its history."""
    parsed = parsed_identifier(identifier, channel, as_json=as_json)
    confirm("Release it? Anyone may then register it.", yes=yes, as_json=as_json)
    if not with_store(lambda store: store.release(*parsed, time.time()), env_file, as_json=as_json):
        fail(Exit.NOT_FOUND, "no one holds this identifier", as_json=as_json)
    emit({"released": True}, "released", as_json=as_json)


@credential_app.callback()
def _group() -> None:
    """Remove a credential's registration."""


@credential_app.command()
def revoke(
    credential_id: Annotated[str, typer.Argument(help="Base64 or base64url.")],
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
    if not with_store(lambda store: store.revoke_credential(folded, time.time()), env_file, as_json=as_json):
        fail(Exit.NOT_FOUND, "no such credential", as_json=as_json)
    emit({"revoked": True}, "revoked", as_json=as_json)


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
        lines += ["  " + ", ".join(f"{name} {_moment(name, cell)}" for name, cell in row.items()) for row in rows]
    return "\n".join(lines)


def _moment(name: str, cell: Any) -> str:
    from holdfast.wire.encoding import to_iso

    return to_iso(cell) if isinstance(cell, float) and (name == "at" or name.endswith("_at")) else str(cell)

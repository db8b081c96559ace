"""`holdfast invitation`: codes with which people may register if HOLDFAST_REGISTRATION is `invitation`."""

from __future__ import annotations

import asyncio
import secrets
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import AsJson, EnvFile, secrets_or_fail, settings_or_fail, store_or_fail
from holdfast.rules.invitations import MAX_DAYS, MAX_USES, new_invitation, parse_invitation
from holdfast.rules.limits import DAY_S

if TYPE_CHECKING:
    from holdfast.rules.invitations import Invitation
    from holdfast.service.store.port import Store

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Invite people to register.")


@app.command()
def new(
    uses: Annotated[int, typer.Option(min=1, max=MAX_USES, help="How many registrations it admits.")] = 1,
    days: Annotated[int, typer.Option(min=1, max=MAX_DAYS, help="For how many days it is valid.")] = 14,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Print a new invitation code, and the address of the pages that contains it."""
    settings = settings_or_fail(env_file, as_json=as_json)
    key = secrets_or_fail(settings, as_json=as_json).invitation_keys[0]
    code = new_invitation(key, uses, time.time() + days * DAY_S, secrets.token_bytes)
    address = f"{settings.public_url}/?invitation={code}"
    emit({"code": code, "address": address, "uses": uses, "days": days}, f"{code}\n{address}", as_json=as_json)


@app.command()
def revoke(
    code: Annotated[str, typer.Argument(help="As it was printed.")],
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Use up what is left of an invitation code, so that it admits no one any more."""
    settings = settings_or_fail(env_file, as_json=as_json)
    keys = secrets_or_fail(settings, as_json=as_json).invitation_keys
    invitation = parse_invitation(code, keys, time.time())
    if invitation is None:
        fail(Exit.NOT_FOUND, "this is not a valid invitation code of this service", as_json=as_json)
    left = asyncio.run(_used_up(store_or_fail(settings, as_json=as_json), invitation))
    until = datetime.fromtimestamp(invitation.expires_at, UTC).isoformat()
    emit({"left": left, "expires_at": until}, f"revoked; it would have admitted {left} more", as_json=as_json)


async def _used_up(store: Store, invitation: Invitation) -> int:
    """Return how many uses were left."""
    from holdfast.wire.errors import Refused

    left = 0
    try:
        while True:
            await store.charge([invitation.quota()], invitation.expires_at)
            left += 1
    except Refused:
        return left
    finally:
        await store.close()

"""`holdfast person`, with which operators answer a person's request for a copy or for deletion."""

from __future__ import annotations

import json
import secrets
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.identifier import Channel, Operator, Yes, acting, parsed_identifier, pseudonyms_or_fail, with_store
from holdfast.cli.output import confirm, emit, fail
from holdfast.cli.settings import AsJson, EnvFile

if TYPE_CHECKING:
    from holdfast.rules.pseudonyms import Pseudonyms
    from holdfast.service.store.persons import Removed
    from holdfast.service.store.port import Store
    from holdfast.wire.models import PersonExport

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Give a person a copy of what is stored about them, or delete it.",
)
Who = Annotated[str, typer.Argument(metavar="DID|IDENTIFIER", help="The person's DID, or an identifier that it holds.")]
_REMEMBERED_S = 3600.0


@app.command()
def export(who: Who, channel: Channel = "handle", env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Print all rows about a person's DID as JSON: identifiers, credentials, audit, snapshots and pins."""

    async def work(store: Store) -> PersonExport:
        from holdfast.service.operations.persons import person_export

        names = pseudonyms_or_fail(env_file, as_json=as_json)
        return await person_export(store, await _did_of(store, who, channel, as_json=as_json), names, time.time())

    answer: dict[str, Any] = _plain(with_store(work, env_file, as_json=as_json))
    emit(answer, json.dumps(answer, ensure_ascii=False, indent=2), as_json=as_json)


@app.command()
def erase(
    who: Who,
    channel: Channel = "handle",
    operator: Operator = None,
    env_file: EnvFile = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete a person's identifiers, credentials and snapshots; in the audit, hashes replace their names and DID."""
    confirm("Delete all of this person? Anyone may then register the names.", yes=yes, as_json=as_json)

    async def work(store: Store) -> tuple[str, Removed]:
        did = await _did_of(store, who, channel, as_json=as_json)
        pseudonyms = pseudonyms_or_fail(env_file, as_json=as_json)
        await store.administration.note("erased", pseudonyms.of_did(did), acting(operator))
        return did, await _erased(store, did, pseudonyms)

    did, removed = with_store(work, env_file, as_json=as_json)
    text = ", ".join(f"{name} {count}" for name, count in removed._asdict().items())
    emit({"did": did, **removed._asdict()}, f"{did}\nremoved: {text}", as_json=as_json)


async def _erased(store: Store, did: str, pseudonyms: Pseudonyms) -> Removed:
    from holdfast.service.store.persons import Removal

    now = time.time()
    token, until = secrets.token_bytes(32), now + _REMEMBERED_S
    return await store.take_back(Removal(did=did, now=now, pseudonyms=pseudonyms, token=token, until=until))


async def _did_of(store: Store, who: str, channel: str, *, as_json: bool) -> str:
    """Return the DID, or the DID that holds the identifier. Exits with NOT_FOUND."""
    if who.startswith("did:"):
        return who
    claim = await store.claim_of(*parsed_identifier(who, channel, as_json=as_json))
    if claim is None:
        fail(Exit.NOT_FOUND, "no one holds this identifier", as_json=as_json)
    return claim.did


def _plain(found: PersonExport) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain

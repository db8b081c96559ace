"""`holdfast person`, with which operators answer a person's request for a copy or for deletion."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from holdfast.cli.identifier import Channel, Operator, Yes, with_tasks
from holdfast.cli.output import confirm, emit
from holdfast.cli.settings import AsJson, EnvFile
from holdfast.wire.admin_endpoints import OfPerson

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Give a person a copy of what is stored about them, or delete it.",
)
Who = Annotated[str, typer.Argument(metavar="DID|IDENTIFIER", help="The person's DID, or an identifier that it holds.")]


@app.command()
def export(who: Who, channel: Channel = "handle", env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Print all rows about a person's DID as JSON: identifiers, credentials, audit, snapshots and pins."""
    import msgspec

    given = OfPerson(person=who, channel=channel)
    found = with_tasks(lambda tasks, by: tasks.export_person(given, by), env_file, as_json=as_json)
    rows: dict[str, Any] = msgspec.to_builtins(found)
    emit(rows, json.dumps(rows, ensure_ascii=False, indent=2), as_json=as_json)


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
    given = OfPerson(person=who, channel=channel)
    confirm("Delete all of this person? Anyone may then register the names.", yes=yes, as_json=as_json)
    done = with_tasks(lambda tasks, by: tasks.erase_person(given, by), env_file, operator, as_json=as_json)
    removed = ", ".join(f"{name} {count}" for name, count in done.items() if name != "did")
    emit(done, f"{done['did']}\nremoved: {removed}", as_json=as_json)

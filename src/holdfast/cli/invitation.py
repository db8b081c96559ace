"""`holdfast invitation`: codes with which people may register if HOLDFAST_REGISTRATION is `invitation`."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.identifier import Operator, with_tasks
from holdfast.cli.listings import print_rows
from holdfast.cli.output import emit, fail
from holdfast.cli.settings import AsJson, EnvFile
from holdfast.rules.invitations import MAX_DAYS, MAX_USES
from holdfast.wire.admin_endpoints import NewInvitation, OfInvitation, ReadPage, Reissue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.service.operations.operator_tasks import OperatorTasks
    from holdfast.service.store.administration import By

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Invite people to register.")
Days = Annotated[int, typer.Option(min=1, max=MAX_DAYS, help="For how many days it is valid.")]
Code = Annotated[str, typer.Argument(help="As it was printed, or its number in the list.")]
People = Annotated[
    typer.FileText,
    typer.Argument(metavar="CSV", encoding="utf-8-sig", help="A row for each person, below names of columns."),
]


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
def each(
    file: People,
    days: Days = 30,
    operator: Operator = None,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Print the file with a code for each row, which admits one registration, and the address that contains it."""
    people = _people(file, as_json=as_json)
    given = NewInvitation(uses=1, days=days)

    async def work(tasks: OperatorTasks, by: By) -> None:
        for at, person in enumerate(people.rows):
            made = await tasks.invite(given, by)
            row = {**person, "invitation": str(made["code"]), "address": str(made["address"])}
            # Each code is printed at once, because codes that were not printed are lost if the command is interrupted.
            sys.stdout.write(_json(row, at, len(people.rows)) if as_json else _csv(row, people.delimiter, at))
            sys.stdout.flush()

    with_tasks(work, env_file, operator, as_json=as_json)


class _People(NamedTuple):
    rows: list[dict[str, str]]
    delimiter: str


def _people(file: typer.FileText, *, as_json: bool) -> _People:
    """Return the file's rows. Exits with USAGE for a file that is no such table."""
    try:
        text = file.read()
        delimiter = _delimiter(text)
        table = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows, names = list(table), list(table.fieldnames or ())
    except (csv.Error, UnicodeDecodeError):
        fail(Exit.USAGE, f"{file.name} is not CSV in UTF-8", as_json=as_json)
    wrong = next((number for number, row in enumerate(rows, 1) if None in row or None in row.values()), None)
    why = ""
    if not rows:
        why = "it needs rows below names of columns"
    elif wrong:
        why = f"row {wrong} has another number of columns than there are names"
    elif len(set(names)) < len(names):
        why = "two columns have the same name: rename one"
    elif not {"invitation", "address"}.isdisjoint(names):
        why = "columns `invitation` and `address` are added: rename those in the file"
    if why:
        fail(Exit.USAGE, f"{file.name}: {why}", as_json=as_json)
    return _People(rows, delimiter)


def _delimiter(text: str) -> str:
    """Return what separates the names of columns: a comma, or a semicolon or tab, which spreadsheets write too."""
    first = text.split("\n", 1)[0]
    return max(",;\t", key=lambda one: len(next(csv.reader([first], delimiter=one), ())))


def _json(row: Mapping[str, str], at: int, rows: int) -> str:
    """Return the part of the JSON list that contains the row."""
    return ("[" if at == 0 else ", ") + json.dumps(row, ensure_ascii=False) + ("]\n" if at == rows - 1 else "")


def _csv(row: Mapping[str, str], delimiter: str, at: int) -> str:
    """Return the row as CSV. Cells stay as the operator wrote them, also numbers that begin with a plus sign."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row), delimiter=delimiter, lineterminator="\n")
    if at == 0:
        writer.writeheader()
    writer.writerow(row)
    return text.getvalue()


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

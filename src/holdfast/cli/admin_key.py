"""`holdfast admin-key`: keys for the admin port."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.identifier import Operator, with_tasks
from holdfast.cli.listings import print_rows
from holdfast.cli.output import emit
from holdfast.cli.settings import AsJson, EnvFile

if TYPE_CHECKING:
    from holdfast.service.operations.admin_keys import AdminKeys
    from holdfast.service.operations.operator_tasks import OperatorTasks, Rows

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Keys with which operators use the admin port.",
)
Name = Annotated[str, typer.Argument(help="The operator's name, which the audit will show.")]


@app.command()
def new(
    name: Name,
    scope: Annotated[list[str], typer.Option(help="read, write or erase; several times for several.")] = ["read"],  # noqa: B006 - typer reads it only
    operator: Operator = None,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Print a new key. It is shown only now; the service stores a hash."""
    key = with_tasks(lambda tasks, by: _keys(tasks).make(name, scope, by), env_file, operator, as_json=as_json)
    emit({"name": name, "key": key}, key, as_json=as_json)


@app.command("list")
def list_keys(env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """List keys by name, also revoked ones."""

    async def work(tasks: OperatorTasks, _by: object) -> Rows:
        from holdfast.service.operations.operator_tasks import Rows

        return Rows(await _keys(tasks).all())

    print_rows(with_tasks(work, env_file, as_json=as_json), as_json=as_json)


@app.command()
def revoke(name: Name, operator: Operator = None, env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Revoke a key, also for a request that is under way. Its name is not used again."""
    with_tasks(lambda tasks, by: _keys(tasks).revoke(name, by), env_file, operator, as_json=as_json)
    emit({"name": name, "revoked": True}, "revoked", as_json=as_json)


def _keys(tasks: OperatorTasks) -> AdminKeys:
    from holdfast.service.operations.admin_keys import AdminKeys

    return AdminKeys(tasks.store, time.time, tasks.entropy)

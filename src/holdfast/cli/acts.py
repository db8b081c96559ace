"""`holdfast acts`: what operators did, and who."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.identifier import with_tasks
from holdfast.cli.listings import print_rows
from holdfast.cli.settings import AsJson, EnvFile
from holdfast.wire.admin_endpoints import ReadPage

app = typer.Typer(add_completion=False, rich_markup_mode=None, help="What operators did, and who.")


@app.command()
def acts(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the latest first.")] = 50,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Print what operators did: when, who, what, and to which identifier or ban."""
    given = ReadPage(limit=limit)
    print_rows(with_tasks(lambda tasks, by: tasks.acts(given, by), env_file, as_json=as_json), csv=csv, as_json=as_json)

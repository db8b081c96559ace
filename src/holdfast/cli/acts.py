"""`holdfast acts`: what operators did, and who."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.identifier import with_store
from holdfast.cli.output import emit
from holdfast.cli.settings import AsJson, EnvFile

if TYPE_CHECKING:
    from holdfast.service.store.administration import Act

app = typer.Typer(add_completion=False, rich_markup_mode=None, help="What operators did, and who.")


@app.command()
def acts(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the latest first.")] = 50,
    env_file: EnvFile = None,
    as_json: AsJson = False,
) -> None:
    """Print what operators did: when, who, what, and to which identifier or ban."""
    from holdfast.wire.encoding import to_iso

    found: list[Act] = with_store(lambda store: store.administration.acts(None, limit), env_file, as_json=as_json)
    rows = [{**act._asdict(), "at": to_iso(act.at)} for act in found]
    lines = [" ".join(filter(None, (to_iso(a.at), a.operator, a.action, a.channel, a.key, a.did))) for a in found]
    emit(rows, "\n".join(lines), as_json=as_json)

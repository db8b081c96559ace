"""holdfast keys."""

from __future__ import annotations

import typer

from holdfast.cli.output import emit
from holdfast.cli.settings import AsJson

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True, help="Make keys.")


@app.callback()
def _group() -> None:
    """Generate keys."""


@app.command()
def new(as_json: AsJson = False) -> None:
    """Print a new signing key for ATTESTATION_SIGNING_KEY.

    To rotate the key, put the new key first, then a comma and the old key, which must stay there for the lifetime of
    attestations (ATTESTATION_TTL_SECONDS). Then remove the old key.
    """
    from holdfast.service.settings.secrets import new_key

    key = new_key()
    emit({"key": key}, key, as_json=as_json)

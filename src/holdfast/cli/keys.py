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


@app.command()
def webhook(as_json: AsJson = False) -> None:
    """Print a new secret for HOLDFAST_WEBHOOK_SECRET and for the receiver of the webhook.

    To rotate the secret, add the new one after the old one and a space, give it to the receiver, then remove the old
    one.
    """
    from holdfast.service.settings.secrets import new_webhook_secret

    secret = new_webhook_secret()
    emit({"secret": secret}, secret, as_json=as_json)

"""holdfast whoami."""

from __future__ import annotations

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, Key, Service
from holdfast.cli.output import emit

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def whoami(
    service: Service = DEFAULT_SERVICE, folder: Folder = None, key: Key = "password", as_json: AsJson = False
) -> None:
    """Your DID, and what the service knows it by."""
    from holdfast.client.client import Client

    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        found = vault.query()
        with Client(service, vault=vault) as client:
            record = client.lookup_did(found.credentials[0].credential_id)
        answer = {"did": found.did, "key": vault.did_key(), "registered": record.to_json() if record else None}
        known = f"{record.channel} {record.identifier}" if record else "not registered"
        emit(answer, f"{found.did}\n{known}", as_json=as_json)

"""holdfast whoami."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import DEFAULT_SERVICE, AsJson, Folder, ForeignContracts, Key, Service
from holdfast.cli.output import emit

if TYPE_CHECKING:
    from holdfast.client.blocking.client import Client

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def whoami(
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    foreign: ForeignContracts = False,
    as_json: AsJson = False,
) -> None:
    """Print your DID, its identifier on the service, and your smart account."""
    from holdfast.client.blocking.client import Client
    from holdfast.client.http.calls import Retries

    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        found = vault.query()
        with Client(service, vault=vault, foreign_contracts=foreign, retries=Retries(attempts=1)) as client:
            record = client.lookup_did(found.credentials[0].credential_id)
            account = _account(client)
        answer = {"did": found.did, "key": vault.did_key(), "registered": record.to_json() if record else None}
        known = f"{record.channel} {record.identifier}" if record else "not registered"
        where = f"account {account}" if account else "account not known: the service cannot reach its chain"
        emit({**answer, "smartAccount": account}, f"{found.did}\n{known}\n{where}", as_json=as_json)


def _account(client: Client) -> str | None:
    from holdfast.client.http.refusals import ChainUnreachable

    try:
        return client.smart_account_address()
    except ChainUnreachable:
        return None

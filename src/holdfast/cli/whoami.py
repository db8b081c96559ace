"""holdfast whoami."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from holdfast.cli import client_vault as common
from holdfast.cli.client_vault import DEFAULT_SERVICE, Account, AsJson, Folder, ForeignContracts, Key, Service
from holdfast.cli.output import emit

if TYPE_CHECKING:
    from holdfast.client.blocking.client import Client
    from holdfast.client.blocking.vault import Vault

_WORDS = {
    "owner": "your key is one of the account's owners, not its primary key",
    "none": "your key does not own the account",
}
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def whoami(
    service: Service = DEFAULT_SERVICE,
    folder: Folder = None,
    key: Key = "password",
    account: Account = None,
    foreign: ForeignContracts = False,
    as_json: AsJson = False,
) -> None:
    """Print your DID, its identifier on the service, your smart account, and whether your key owns it."""
    from holdfast.client.blocking.client import Client
    from holdfast.client.http.calls import Retries

    with common.plain_errors(as_json=as_json), common.opened_vault(folder, key, service) as vault:
        found = vault.query()
        with Client(
            service, vault=vault, account=account, foreign_contracts=foreign, retries=Retries(attempts=1)
        ) as client:
            # The newest passkey first: after a move, the older ones are those of the former service.
            looked_up = (client.lookup_did(it.credential_id) for it in reversed(found.credentials))
            record = next((it for it in looked_up if it and it.did == found.did), None)
            address = _account(client)
            ownership = _ownership(client, vault) if address else None
            others = _others(client, vault, address) if address else None
        answer = {"did": found.did, "key": vault.did_key(), "registered": record.to_json() if record else None}
        known = f"{record.channel} {record.identifier}" if record else "not registered"
        where = f"account {address}" if address else "account not known: the service cannot reach its chain"
        owns = [f"your key also owns {other}: look with --account" for other in others or ()]
        lines = (found.did, known, where, *([_WORDS[ownership]] if ownership in _WORDS else []), *owns)
        known_of = {"smartAccount": address, "ownership": ownership, "otherAccounts": others}
        emit({**answer, **known_of}, "\n".join(lines), as_json=as_json)


def _account(client: Client) -> str | None:
    from holdfast.client.http.refusals import ChainUnreachable

    try:
        return client.smart_account_address()
    except ChainUnreachable:
        return None


def _ownership(client: Client, vault: Vault) -> str | None:
    """Return what the vault's key is in the account: `primary`, `owner`, `none`; or None if the chain does not say."""
    from holdfast.chain.signers import p256_signer
    from holdfast.wire.client_errors import NetworkError

    try:
        owners = client.account_view().owners
    except NetworkError:
        return None
    key = vault.own_key()
    mine = [owner for owner in owners if owner.signer == p256_signer(key.x, key.y) and owner.signs_at(time.time())]
    return "none" if not mine else "primary" if mine[0].is_primary else "owner"


def _others(client: Client, vault: Vault, address: str) -> list[str] | None:
    """Return the other accounts that the vault's key owns, as the indexer says; or None without an indexer."""
    from holdfast.chain.signers import key_id, p256_signer
    from holdfast.wire.client_errors import NetworkError
    from holdfast.wire.encoding import to_hex

    key = vault.own_key()
    try:
        rows = client.indexer_accounts({"key_owner": to_hex(key_id(p256_signer(key.x, key.y))[-20:])}).accounts
    except NetworkError:
        return None
    return [row.account_address for row in rows if row.account_address and row.account_address != address]

"""What a person takes back from the embedded store, and all that it has about a DID."""

from __future__ import annotations

# ruff: noqa: S608 - the statements consist of our own names
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from holdfast.service.store.persons import Removal, Removed
from holdfast.service.store.port import StoreUnavailable
from holdfast.service.store.sqlite import recoveries
from holdfast.service.store.sqlite.admin import IN_ORDER, plain_row
from holdfast.service.store.sqlite.claims import release, release_claim, revoke_credential
from holdfast.service.store.sqlite.schema import connect
from holdfast.service.store.sqlite.snapshot_waste import drop_all
from holdfast.service.store.sqlite.standing import PERHAPS_HELD, of_did

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from sqlite3 import Connection

    from holdfast.rules.pseudonyms import Pseudonyms

_KIND = "person"  # of used tokens
_NAMES = f"SELECT channel, key FROM identifiers WHERE did = ?1 AND id IN ({PERHAPS_HELD})"
# A session proves nothing: what belongs to the identifier itself is the DID's only once the DID has registered it.
_REGISTERED = f"{_NAMES} AND stage = 'registered'"
_OF_DID = of_did("did")
_AUDIT_OF_DID = f"did IS NOT NULL AND {_OF_DID}"  # the condition of the index
_AUDIT = (
    "SELECT a.* FROM identifiers AS i CROSS JOIN audit AS a ON a.channel = i.channel AND a.key = i.key"
    f" WHERE i.did = ?1 AND i.stage = 'registered' AND i.id IN ({PERHAPS_HELD}) AND a.did IS NULL"
    " AND a.at >= i.created_at"
    f" UNION SELECT * FROM audit WHERE {_AUDIT_OF_DID}"
    f" UNION SELECT * FROM audit WHERE {_AUDIT_OF_DID.replace('?1', '?2')}"
)
EXPORT = {
    "identifiers": "SELECT channel, key, given, stage, ip AS address, created_at, registered_at, signed,"
    " (SELECT verified_at FROM verifications AS v WHERE v.channel = i.channel AND v.key = i.key"
    " AND i.stage = 'registered') AS verified_at FROM identifiers AS i"
    f" WHERE did = ?1 AND id IN ({PERHAPS_HELD}) ORDER BY created_at, channel, key",
    "credentials": "SELECT c.credential, i.channel, i.key, c.tx_hash, c.block_number, c.smart_account, c.created_at,"
    " c.confirmation, c.settled_at, c.signed FROM credentials AS c JOIN identifiers AS i ON i.id = c.identifier_id"
    f" WHERE {of_did('c.did')} ORDER BY c.created_at, c.credential",
    "codes": "SELECT channel, key, sent_at, expires_at, attempts, ip AS address FROM codes"
    f" WHERE (channel, key) IN ({_REGISTERED}) ORDER BY sent_at, channel, key",
    "audit": f"SELECT at, action, channel, key, did FROM ({_AUDIT}) ORDER BY {IN_ORDER}, channel, key",
    "snapshots": "SELECT cid, size, publisher, created_at FROM snapshot_roots WHERE did = ?1 ORDER BY created_at, cid",
    "pins": "SELECT request_id, cid, name, origins, meta, state, created_us FROM snapshot_pins WHERE did = ?1"
    " ORDER BY created_us",
    "names": f"SELECT name, root, sequence, updated_at FROM snapshot_names WHERE {_OF_DID} ORDER BY name",
    "uploads": "SELECT bytes, expires_at FROM snapshot_uploads WHERE did = ?1 ORDER BY expires_at, bytes",
    "recoveries": "SELECT request, channel, key, account, owners, nonce, asked_at, confirmed_at, ready_at, signed_at"
    f" FROM recovery_requests WHERE {_OF_DID} ORDER BY asked_at, request",
    "recovery_mails": "SELECT recipient, kind, account, until AS until_at, noted_at, sent_at FROM recovery_mails"
    f" WHERE {_OF_DID} ORDER BY noted_at, recipient, name",
    "revocations": "SELECT cid, before AS before_at, until AS until_at FROM snapshot_revocations WHERE did = ?1"
    " ORDER BY cid",
}  # fmt: skip


def take_back(connection: Connection, removal: Removal) -> Removed:
    """Remove what is asked, once for each token; see Store."""
    row = connection.execute(
        "SELECT made FROM snapshot_tokens WHERE token = ? AND kind = ?", (removal.token, _KIND)
    ).fetchone()
    if row is not None:
        return Removed.of_text(row[0])
    removed = _remove(connection, removal)
    values = (removal.token, _KIND, "", removed.text(), removal.until)
    connection.execute("INSERT INTO snapshot_tokens (token, kind, what, made, until) VALUES (?, ?, ?, ?, ?)", values)
    return removed


def _remove(connection: Connection, removal: Removal) -> Removed:
    if removal.credential is not None:
        return _credential(connection, removal, removal.credential)
    if removal.name is not None:
        return _name(connection, removal, *removal.name)
    return _everything(connection, removal)


def _credential(connection: Connection, removal: Removal, credential: str) -> Removed:
    row = connection.execute(
        "SELECT 1 FROM credentials WHERE credential = ? AND did = ?", (credential, removal.did)
    ).fetchone()
    gone = row is not None and revoke_credential(connection, credential, removal.now)
    return Removed(credentials=int(gone))


def _name(connection: Connection, removal: Removal, channel: str, key: str) -> Removed:
    row = connection.execute(
        "SELECT (SELECT count(*) FROM credentials WHERE identifier_id = i.id AND did = i.did), stage = 'registered',"
        " created_at FROM identifiers AS i WHERE channel = ? AND key = ? AND did = ?",
        (channel, key, removal.did),
    ).fetchone()
    if row is None:
        return Removed()
    credentials, registered, since = row
    (release if registered else release_claim)(connection, channel, key, removal.now)
    recoveries.forget(connection, removal.did, channel, key)
    rows = connection.execute(
        "SELECT id, channel, key, did FROM audit WHERE channel = ? AND key = ?"
        " AND (did = ? OR (? AND did IS NULL AND at >= ?))",
        (channel, key, removal.did, registered, since),
    )
    _hide(connection, rows.fetchall(), removal.pseudonyms)
    return Removed(identifiers=1, credentials=credentials)


def _everything(connection: Connection, removal: Removal) -> Removed:
    removed = Removed()
    for channel, key in connection.execute(_NAMES, (removal.did,)).fetchall():
        removed = removed.plus(_name(connection, removal, channel, key))
    # What the chain refused, and another DID has claimed since.
    refused = connection.execute(
        f"DELETE FROM credentials WHERE {_OF_DID} AND confirmation = 'refused'", (removal.did,)
    )
    snapshots, pins = drop_all(connection, removal.did)
    connection.execute(f"DELETE FROM snapshot_names WHERE {_OF_DID}", (removal.did,))
    recoveries.forget(connection, removal.did)
    connection.execute("DELETE FROM snapshot_uploads WHERE did = ?", (removal.did,))
    connection.execute("DELETE FROM snapshot_orphans WHERE did = ?", (removal.did,))
    rows = connection.execute(f"SELECT id, channel, key, did FROM audit WHERE {_AUDIT_OF_DID}", (removal.did,))
    _hide(connection, rows.fetchall(), removal.pseudonyms)
    return removed.plus(Removed(credentials=refused.rowcount, snapshots=snapshots, pins=pins))


def hide_names(pseudonyms: Pseudonyms, connection: Connection, before: float, most: int) -> int:
    """Replace names and DIDs in at most `most` rows of the audit that are older than `before`; return how many."""
    rows = connection.execute(
        "SELECT id, channel, key, did FROM audit WHERE at < ? AND substr(key, 1, 5) <> 'hash ' LIMIT ?", (before, most)
    ).fetchall()
    _hide(connection, rows, pseudonyms)
    return len(rows)


def _hide(connection: Connection, rows: Iterable[tuple[Any, ...]], pseudonyms: Pseudonyms) -> None:
    """Replace the names and the DIDs in these rows of the audit."""
    changed = (
        (pseudonyms.of_name(channel, key), None if did is None else pseudonyms.of_did(did), number)
        for number, channel, key, did in rows
    )
    connection.executemany("UPDATE audit SET key = ?, did = ? WHERE id = ?", changed)


def held(file: Path, did: str, hashed: str) -> dict[str, list[dict[str, object]]]:
    """Return all rows about a DID as of one moment; `hashed` is the DID's hash in the audit. See Store."""
    try:
        with closing(connect(file)) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("BEGIN")
            return {name: _rows(connection, statement, did, hashed) for name, statement in EXPORT.items()}
    except sqlite3.DatabaseError as error:
        raise StoreUnavailable(str(error)) from error


def _rows(connection: Connection, statement: str, did: str, hashed: str) -> list[dict[str, Any]]:
    given = (did, hashed) if "?2" in statement else (did,)
    return [plain_row(dict(row)) for row in connection.execute(statement, given)]

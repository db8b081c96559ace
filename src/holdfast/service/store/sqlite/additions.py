"""Addresses that a person adds to their DID, in the embedded store."""

from __future__ import annotations

# ruff: noqa: S608 - the statements consist of our own names
from typing import TYPE_CHECKING

from holdfast.rules.additions import Addition, AdditionFacts, addition_of
from holdfast.rules.registration import Claim, Stage
from holdfast.service.store.sqlite import audit
from holdfast.service.store.sqlite.claims import banned, given_of
from holdfast.service.store.sqlite.standing import INDEXED, IS_REGISTERED, of_did

if TYPE_CHECKING:
    from sqlite3 import Connection

    from holdfast.service.store.persons import NewAddress

_KIND = "address"  # of used tokens
_ADDRESSES = (
    f"SELECT count(*) FROM identifiers WHERE {INDEXED} AND {of_did('did')}"
    " AND stage = 'registered' AND channel <> 'handle'"
)


def add_address(connection: Connection, address: NewAddress) -> Addition:
    """Make an address the DID's if the rule admits it, once for each token; see Store."""
    row = connection.execute(
        "SELECT made FROM snapshot_tokens WHERE token = ? AND kind = ?", (address.token, _KIND)
    ).fetchone()
    if row is not None:
        return Addition(row[0])
    addition = addition_of(address.did, _facts(connection, address), address.most)
    if addition in {Addition.CLAIM, Addition.TAKE_OVER}:
        _write(connection, address, addition)
    if addition in {Addition.CLAIM, Addition.TAKE_OVER, Addition.KEEP}:
        connection.execute("UPDATE identifiers SET signed = 1 WHERE channel = ? AND key = ?", _claim_key(address))
        values = (address.token, _KIND, "", addition.value, address.until)
        connection.execute(
            "INSERT INTO snapshot_tokens (token, kind, what, made, until) VALUES (?, ?, ?, ?, ?)", values
        )
    return addition


def _facts(connection: Connection, address: NewAddress) -> AdditionFacts:
    signature = address.attestation[:1]
    claim = connection.execute("SELECT did, stage FROM identifiers WHERE channel = ? AND key = ?", _claim_key(address))
    row = claim.fetchone()
    used = connection.execute("SELECT 1 FROM used_attestations WHERE signature = ?", signature).fetchone()
    return AdditionFacts(
        registered=connection.execute(IS_REGISTERED, (address.did,)).fetchone() is not None,
        attestation_used=used is not None,
        claim=Claim(row[0], Stage(row[1])) if row else None,
        addresses=connection.execute(_ADDRESSES, (address.did,)).fetchone()[0],
        banned=banned(connection, address.identifier, address.did, address.network) is not None,
    )


def _write(connection: Connection, address: NewAddress, addition: Addition) -> None:
    if addition is Addition.CLAIM:
        connection.execute(
            "INSERT INTO identifiers (channel, key, given, did, stage, ip, created_at, registered_at, in_audit)"
            " VALUES (?, ?, ?, ?, 'registered', ?, ?, ?, 1)",
            (*_claim_key(address), given_of(address.identifier), address.did, address.ip, address.now, address.now),
        )
    else:
        connection.execute(
            "UPDATE identifiers SET did = ?, stage = 'registered', registered_at = ?, in_audit = 1"
            " WHERE channel = ? AND key = ?",
            (address.did, address.now, *_claim_key(address)),
        )
    connection.execute("INSERT INTO used_attestations VALUES (?, ?)", address.attestation)
    audit.note(connection, "added", address.identifier, address.did, address.now)


def _claim_key(address: NewAddress) -> tuple[str, str]:
    return address.identifier.channel.value, address.identifier.key

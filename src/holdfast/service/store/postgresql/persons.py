"""What a person takes back from PostgreSQL, and all that it has about a DID."""

from __future__ import annotations

# ruff: noqa: S608 - the statements consist of our own names
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.rules.shards import shard_of
from holdfast.service.store.persons import Removed
from holdfast.service.store.postgresql.batches import value_of
from holdfast.service.store.postgresql.reads import IN_ORDER
from holdfast.service.store.postgresql.writes.arguments import call

if TYPE_CHECKING:
    from holdfast.service.store.persons import Removal

HIDDEN_AT_ONCE = 500  # rows of the audit that a statement changes


def removal_arguments(one: Removal) -> list[object]:
    """Return the arguments of the function that carries out a removal."""
    channel, key = one.name or (None, None)
    return [
        *(shard_of(one.did), one.did),
        *((None if one.credential is None else shard_of(one.credential)), one.credential),
        *((None if channel is None or key is None else shard_of(channel, key)), channel, key),
        *(shard_of(one.token), one.token, one.until),
        *(*one.pseudonyms.blocks, one.now),
    ]


TAKE_BACK = value_of("take_back", call("take_back_v1", 13), Removed.of_text, repeatable=True)
HIDE_NAMES = value_of("hide_names", call("hide_names_v1", 4), int, repeatable=True)

_OF_DID = "t.shard = $1 AND t.did = $2"
# Of the DID's identifiers `h`. A session proves nothing: what belongs to the identifier itself is the DID's only once
# the DID has registered it.
_IS_HELD = "right(h.did, 12) = right($2, 12) AND h.did = $2"
_SAME = "t.shard = h.shard AND t.channel = h.channel AND t.key = h.key AND h.stage = 'registered'"
_PARTS = {
    "identifiers": "SELECT h.channel, h.key, h.given, h.stage, h.ip AS address, h.created_at, h.registered_at,"
    f" h.signed, t.verified_at FROM holdfast.identifiers AS h LEFT JOIN holdfast.verifications AS t ON {_SAME}"
    f" WHERE {_IS_HELD} ORDER BY h.created_at, h.channel, h.key",
    "credentials": "SELECT t.credential, t.channel, t.key, t.tx_hash, t.block_number, t.smart_account, t.created_at,"
    " t.confirmation, t.settled_at, t.signed FROM registered AS d"
    " JOIN holdfast.credentials AS t ON t.shard = d.identifier_shard AND t.channel = d.channel AND t.key = d.key"
    " AND t.did = d.did ORDER BY t.created_at, t.credential",
    "codes": "SELECT t.channel, t.key, t.sent_at, t.expires_at, t.attempts, t.ip AS address"
    f" FROM holdfast.identifiers AS h JOIN holdfast.codes AS t ON {_SAME} WHERE {_IS_HELD}"
    " ORDER BY t.sent_at, t.channel, t.key",
    "audit": "SELECT a.at, a.action, a.channel, a.key, a.did FROM ("
    f"SELECT t.* FROM holdfast.identifiers AS h JOIN holdfast.audit AS t ON {_SAME} WHERE {_IS_HELD}"
    " AND t.did IS NULL AND t.at >= h.created_at"
    " UNION SELECT t.* FROM holdfast.audit AS t WHERE right(t.did, 12) = right($2, 12) AND t.did = $2"
    " UNION SELECT t.* FROM holdfast.audit AS t WHERE right(t.did, 12) = right($3, 12) AND t.did = $3"
    f") AS a ORDER BY {IN_ORDER}, channel, key",
    "snapshots": f"SELECT t.cid, t.size, t.publisher, t.created_at FROM holdfast.snapshot_roots AS t WHERE {_OF_DID}"
    " ORDER BY t.created_at, t.cid",
    "pins": "SELECT t.request_id, t.cid, encode(t.name, 'hex') AS name, t.origins, t.meta, t.state, t.created_us"
    f" FROM holdfast.snapshot_pins AS t WHERE {_OF_DID} ORDER BY t.created_us",
    "names": "SELECT t.name, t.root, t.sequence, t.updated_at FROM holdfast.snapshot_names AS t"
    " WHERE right(t.did, 12) = right($2, 12) AND t.did = $2 ORDER BY t.name",
    "uploads": f"SELECT t.bytes, t.expires_at FROM holdfast.snapshot_uploads AS t WHERE {_OF_DID}"
    " ORDER BY t.expires_at, t.bytes",
    "recoveries": "SELECT t.request, t.channel, t.key, t.account, t.owners, t.nonce, t.asked_at, t.confirmed_at,"
    " t.ready_at, t.signed_at FROM holdfast.recovery_requests AS t WHERE right(t.did, 12) = right($2, 12)"
    " AND t.did = $2 ORDER BY t.asked_at, t.request",
    "recovery_mails": "SELECT t.recipient, t.kind, t.account, t.until AS until_at, t.noted_at, t.sent_at"
    " FROM holdfast.recovery_mails AS t WHERE right(t.did, 12) = right($2, 12) AND t.did = $2"
    " ORDER BY t.noted_at, t.recipient, t.name",
    "revocations": "SELECT t.cid, t.before AS before_at, t.until AS until_at FROM holdfast.snapshot_revocations AS t"
    f" WHERE {_OF_DID} ORDER BY t.cid",
}  # fmt: skip
# Without OFFSET, each server of a Citus cluster would gather its own rows, and the order would be lost.
_JSON = ", ".join(
    f"'{name}', (SELECT coalesce(json_agg(row_to_json(r)), '[]') FROM ({part} OFFSET 0) AS r)"
    for name, part in _PARTS.items()
)


def _held(text: str) -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, Any]]] = msgspec.json.decode(text)
    for pin in found["pins"]:
        if pin["name"] is not None:  # may contain NUL, which PostgreSQL's texts may not
            pin["name"] = bytes.fromhex(pin["name"]).decode()
    return found


HELD = value_of(
    "held_of",
    f"WITH registered AS MATERIALIZED (SELECT * FROM holdfast.did_identifiers AS t WHERE {_OF_DID})"
    f" SELECT json_build_object({_JSON})::text",
    _held,
    repeatable=True,
)

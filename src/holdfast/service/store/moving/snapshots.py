"""The queries that read the SQLite rows of stored snapshots in PostgreSQL's form and order.

The embedded database has one row for each block, however many DIDs store it. PostgreSQL has one row for each block and
DID. All rows of a block refer to the same object.
"""

from __future__ import annotations

from holdfast.service.store.moving.tables import MovedTable

# Pairs of a DID and a block that the DID's snapshots link to, or that its uploads placed.
_LINKED = (
    "SELECT r.did AS did, l.block_id AS block_id FROM snapshot_links AS l JOIN snapshot_roots AS r ON r.id = l.root_id"
)
_PLACED = "SELECT u.did, p.block_id FROM snapshot_upload_blocks AS p JOIN snapshot_uploads AS u ON u.upload = p.upload"

SNAPSHOT_TABLES = (
    MovedTable(
        "did_identifiers",
        ("shard", "did", "channel", "key", "identifier_shard"),
        4,
        "SELECT DISTINCT shard_of(c.did), c.did, i.channel, i.key, shard_of(i.channel, i.key)"
        " FROM credentials AS c JOIN identifiers AS i ON i.id = c.identifier_id ORDER BY 1, 2, 3, 4",
    ),
    MovedTable(
        "snapshot_shards",
        ("shard", "snapshots", "pins", "bytes"),
        1,
        "SELECT shard, sum(snapshots), sum(pins), sum(bytes) FROM ("  # noqa: S608 - our own queries
        "SELECT shard_of(did) AS shard, 1 AS snapshots, 0 AS pins, 0 AS bytes FROM snapshot_roots"
        " UNION ALL SELECT shard_of(did), 0, 1, 0 FROM snapshot_pins"
        " UNION ALL SELECT shard_of(k.did), 0, 0, b.size FROM"
        f" (SELECT * FROM ({_LINKED}) UNION SELECT * FROM ({_PLACED})) AS k"
        " JOIN snapshot_blocks AS b ON b.id = k.block_id WHERE b.stored) GROUP BY shard ORDER BY 1",
    ),
    MovedTable(
        "snapshot_roots",
        ("shard", "did", "cid", "size", "publisher", "held_until", "created_at", "blocks"),
        3,
        "SELECT shard_of(r.did), r.did, r.cid, r.size, publisher, held_until, created_at, b.cid"
        " FROM snapshot_roots AS r JOIN snapshot_links AS l ON l.root_id = r.id"
        " JOIN snapshot_blocks AS b ON b.id = l.block_id ORDER BY 1, 2, 3, l.position",
        gathers=True,
    ),
    MovedTable(
        "snapshot_blocks",
        ("shard", "did", "cid", "cid_shard", "number", "size", "stored"),
        3,
        "SELECT shard_of(k.did), k.did, b.cid, shard_of(b.cid), b.id, b.size, b.stored FROM"  # noqa: S608 - our own queries
        f" (SELECT * FROM ({_LINKED}) UNION SELECT * FROM ({_PLACED})) AS k"
        " JOIN snapshot_blocks AS b ON b.id = k.block_id ORDER BY 1, 2, 3",
        booleans=("stored",),
    ),
    MovedTable(
        "snapshot_places",
        ("shard", "cid", "did", "did_shard", "number", "size"),
        3,
        "SELECT DISTINCT shard_of(b.cid), b.cid, k.did, shard_of(k.did), b.id, b.size"  # noqa: S608 - our own queries
        f" FROM ({_LINKED}) AS k JOIN snapshot_blocks AS b ON b.id = k.block_id ORDER BY 1, 2, 3",
    ),
    MovedTable(
        "snapshot_uploads",
        ("shard", "did", "upload", "bytes", "expires_at", "blocks"),
        3,
        "SELECT shard_of(did), did, u.upload, bytes, expires_at, b.cid FROM snapshot_uploads AS u"
        " LEFT JOIN snapshot_upload_blocks AS p ON p.upload = u.upload"
        " LEFT JOIN snapshot_blocks AS b ON b.id = p.block_id ORDER BY 1, 2, 3, b.cid",
        gathers=True,
    ),
    MovedTable(
        "snapshot_pins",
        ("shard", "did", "request_id", "cid", "name", "origins", "meta", "state", "created_us", "by_import"),
        3,
        "SELECT shard_of(did), did, request_id, cid, CAST(name AS BLOB), origins, meta, state, created_us, by_import"
        " FROM snapshot_pins ORDER BY 1, 2, 3",
        booleans=("by_import",),
    ),
    MovedTable(
        "snapshot_tokens",
        ("shard", "token", "kind", "what", "made", "until"),
        3,
        "SELECT shard_of(token), token, kind, what, made, until FROM snapshot_tokens ORDER BY 1, 2, 3",
    ),
    MovedTable(
        "snapshot_revocations",
        ("shard", "did", "cid", "before", "until"),
        3,
        "SELECT shard_of(did), did, cid, before, until FROM snapshot_revocations ORDER BY 1, 2, 3",
    ),
    MovedTable(
        "snapshot_names",
        ("shard", "name", "did", "root", "sequence", "validity_ns", "record", "updated_at", "ttl_ns"),
        2,
        "SELECT shard_of(name), name, did, root, sequence, validity_ns, record, updated_at, ttl_ns"
        " FROM snapshot_names ORDER BY 1, 2",
    ),
    MovedTable(
        "snapshot_orphans",
        ("shard", "did", "since"),
        2,
        "SELECT shard_of(did), did, since FROM snapshot_orphans ORDER BY 1, 2",
    ),
    MovedTable(
        "snapshot_garbage",
        ("shard", "object"),
        2,
        # The query includes blocks that nothing needs any more, whose objects the next collection would have marked.
        "SELECT shard_of(cid), cid || '.' || id FROM snapshot_blocks WHERE id NOT IN (SELECT block_id FROM"
        " snapshot_links UNION SELECT block_id FROM snapshot_upload_blocks)"
        " UNION SELECT shard_of(substr(object, 1, instr(object, '.') - 1)), object FROM snapshot_garbage ORDER BY 1, 2",
    ),
)

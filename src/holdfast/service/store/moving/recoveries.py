"""The queries that read the SQLite rows of recoveries in PostgreSQL's form and order."""

from __future__ import annotations

from holdfast.service.store.moving.tables import MovedTable

RECOVERY_TABLES = (
    MovedTable(
        "recovery_requests",
        (
            "shard", "request", "did", "channel", "key", "account", "owners", "nonce", "digest", "asked_at",
            "expires_at", "attempts", "confirmed_at", "ready_at", "signed_at",
        ),
        2,
        "SELECT shard_of(request), request, did, channel, key, account, owners, nonce, digest, asked_at, expires_at,"
        " attempts, confirmed_at, ready_at, signed_at FROM recovery_requests ORDER BY 1, 2",
    ),
    MovedTable(
        "recovery_mails",
        (
            "shard", "name", "recipient", "kind", "did", "account", "until", "request", "noted_at", "due_at",
            "sent_at",
        ),
        3,
        "SELECT shard_of(name), name, recipient, kind, did, account, until, request, noted_at, due_at, sent_at"
        " FROM recovery_mails ORDER BY 1, 2, 3",
    ),
)  # fmt: skip

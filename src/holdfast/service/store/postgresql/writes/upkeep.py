"""Writes that are never batched: confirmations, expiry, leases, and what operators do."""

from __future__ import annotations

from holdfast.service.store.postgresql.batches import Kind
from holdfast.service.store.postgresql.writes.arguments import call, nothing


def _single(name: str, statement: str, *, repeatable: bool = False) -> Kind:
    """Return a kind of request that is never batched; its result is the first value of the first row."""
    return Kind(name, statement, lambda batch: batch[0], lambda _batch, rows: [rows[0][0]], 1, repeatable)


PUT_OFF = _single("put_off", call("put_off_v1", 3), repeatable=True)
SETTLE = _single("settle", call("settle_v1", 5))
EXPIRE = _single("expire", call("expire_v1", 4), repeatable=True)
EXPIRE_REFUSED = _single("expire", call("expire_refused_v1", 2), repeatable=True)
TAKE_LEASE = _single("take_lease", call("take_lease_v1", 4), repeatable=True)
END_LEASE = Kind(
    "end_lease",
    "DELETE FROM holdfast.leases WHERE name = $1 AND holder = $2",
    lambda batch: batch[0],
    nothing,
    1,
    repeatable=True,
)
RELEASE = _single("release", call("release_v1", 4))
REVOKE = _single("revoke_credential", call("revoke_credential_v1", 3))
